package table

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// RowGroupBytes is the text after which a row group ends.
const RowGroupBytes = 32 << 20

const (
	pageBytes       = 1 << 20   // of a column before it is compressed
	dictionaryBytes = 1 << 20   // after which text is written plainly
	chunkBytes      = 256 << 10 // of memory for pages, and of a write; the library mixes sizes up beyond it
)

// Writer is how files are written here: what every reader of the format knows
// (version 1 pages, no metadata of any library), with statistics and page index.
// Columns of long text have no statistics in their page headers: the page index
// has their bounds, cut short.
func Writer(schema *parquet.Schema, codec compress.Codec, longText ...[]string) []parquet.WriterOption {
	options := []parquet.WriterOption{
		schema,
		parquet.Compression(codec),
		parquet.CreatedBy("cr", "1.0.0", "parquet-go"),
		parquet.DataPageVersion(1),
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.PageBufferSize(pageBytes),
		parquet.ColumnPageBuffers(parquet.NewChunkBufferPool(chunkBytes)),
		parquet.DataPageStatistics(true),
	}
	for _, path := range longText {
		options = append(options, parquet.SkipPageStatistics(path...))
	}
	return options
}
