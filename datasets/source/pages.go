package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxUnfolding is how many times longer than itself a Snappy page may be; the
// format's own bound is below.
const maxUnfolding = 64

// plainDictionary is what old writers call a dictionary and indices into it.
const plainDictionary format.Encoding = 2

// pageReader reads a flat column of text page by page and gives its values where
// they lie in the page. The parquet library copies every dictionary once more,
// and writers put whole row groups of long texts into one. All memory is used
// again for the next column chunk.
type pageReader struct {
	section  *io.SectionReader
	buffered *bufio.Reader
	protocol thrift.CompactProtocol
	decoder  thrift.Decoder
	free     *sync.Pool // where it goes once it is done with
	snappy   bool
	maxLevel int

	packed     []byte // a page as it lies in the file
	page       []byte
	dictionary []byte
	starts     []uint32 // of the dictionary's values
	known      bool     // the dictionary was read

	left    int    // values of the page that were not given out yet
	levels  hybrid // of definition
	indexed bool
	indices hybrid
	plain   []byte // values still to be given out
}

// readsPages reports whether a pageReader can read the column chunk.
func readsPages(column *format.ColumnChunk) bool {
	meta := &column.MetaData
	if len(meta.Encoding) == 0 || column.FilePath != "" {
		return false
	}
	for _, e := range meta.Encoding {
		if e != format.Plain && e != format.RLE && e != format.RLEDictionary && e != plainDictionary {
			return false
		}
	}
	return meta.Codec == format.Snappy || meta.Codec == format.Uncompressed
}

// reset turns to another column chunk, of values with definition levels up to
// maxLevel.
func (r *pageReader) reset(file *parquet.File, meta *format.ColumnMetaData, maxLevel int) {
	start := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		start = meta.DictionaryPageOffset
	}
	r.section = io.NewSectionReader(file, start, max(0, min(meta.TotalCompressedSize, file.Size()-start)))
	if r.buffered == nil {
		r.buffered = bufio.NewReaderSize(r.section, readBuffer)
	}
	r.buffered.Reset(r.section)
	r.decoder.Reset(r.protocol.NewReader(r.buffered))
	r.snappy, r.maxLevel = meta.Codec == format.Snappy, maxLevel
	r.starts, r.known, r.left = r.starts[:0], false, 0
}

// Values of the dictionary stay; pages are read over one another.
func (r *pageReader) lasting() bool { return r.indexed }

func (r *pageReader) close() { r.free.Put(r) }

// next gives a value, valid until the next call, or null as false.
func (r *pageReader) next() (text []byte, ok bool, err error) {
	for r.left == 0 {
		if err := r.turn(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, false, err
		}
	}
	r.left--
	if r.maxLevel > 0 {
		level, err := r.levels.next()
		if err != nil || int(level) < r.maxLevel {
			return nil, false, err
		}
	}
	if !r.indexed {
		text, r.plain, err = cutValue(r.plain)
		return text, true, err
	}
	i, err := r.indices.next()
	if err != nil {
		return nil, false, err
	}
	if int(i) >= len(r.starts) {
		return nil, false, fmt.Errorf("value %d of a dictionary of %d", i, len(r.starts))
	}
	text, _, err = cutValue(r.dictionary[r.starts[i]:])
	return text, true, err
}

// cutValue takes a value in the plain encoding: its length in four bytes, then
// itself.
func cutValue(b []byte) (value, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errors.New("a page ends before its values")
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return nil, nil, errors.New("a value longer than its page")
	}
	return b[:n:n], b[n:], nil
}

// turn reads the next page.
func (r *pageReader) turn() error {
	var header format.PageHeader
	if err := r.decoder.Decode(&header); err != nil {
		return err
	}
	if n := int64(header.CompressedPageSize); n < 0 || n > r.section.Size() {
		return fmt.Errorf("a page of %d bytes in a column of %d", n, r.section.Size())
	}
	r.packed = resized(r.packed, int(header.CompressedPageSize))
	if _, err := io.ReadFull(r.buffered, r.packed); err != nil {
		return err
	}
	if header.CRC != 0 && uint32(header.CRC) != crc32.ChecksumIEEE(r.packed) {
		return errors.New("a page's checksum is wrong")
	}
	switch {
	case header.Type == format.DictionaryPage && header.DictionaryPageHeader.Valid:
		return r.turnDictionary(&header.DictionaryPageHeader.V)
	case header.Type == format.DataPage && header.DataPageHeader.Valid:
		return r.turnData(&header.DataPageHeader.V)
	case header.Type == format.DataPageV2 && header.DataPageHeaderV2.Valid:
		return r.turnDataV2(&header.DataPageHeaderV2.V)
	}
	return fmt.Errorf("a page of the kind %v", header.Type)
}

// unpack decompresses a page into buf.
func (r *pageReader) unpack(buf, packed []byte) ([]byte, error) {
	if !r.snappy {
		return append(buf[:0], packed...), nil
	}
	n, err := s2.DecodedLen(packed)
	if err != nil {
		return nil, fmt.Errorf("decompress a page: %w", err)
	}
	if n > maxUnfolding*len(packed) {
		return nil, fmt.Errorf("a page of %d bytes that unfolds to %d", len(packed), n)
	}
	buf = resized(buf, n)
	if _, err := s2.Decode(buf, packed); err != nil {
		return nil, fmt.Errorf("decompress a page: %w", err)
	}
	return buf, nil
}

func (r *pageReader) turnDictionary(h *format.DictionaryPageHeader) (err error) {
	if r.known {
		return errors.New("a second dictionary")
	}
	r.known = true
	if r.dictionary, err = r.unpack(r.dictionary, r.packed); err != nil {
		return err
	}
	rest := r.dictionary
	for len(r.starts) < int(h.NumValues) {
		r.starts = append(r.starts, uint32(len(r.dictionary)-len(rest)))
		if _, rest, err = cutValue(rest); err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
	}
	return nil
}

func (r *pageReader) turnData(h *format.DataPageHeader) (err error) {
	if r.page, err = r.unpack(r.page, r.packed); err != nil {
		return err
	}
	levels, values := []byte(nil), r.page
	if r.maxLevel > 0 {
		if h.DefinitionLevelEncoding != format.RLE {
			return fmt.Errorf("definition levels in the encoding %v", h.DefinitionLevelEncoding)
		}
		if levels, values, err = cutValue(r.page); err != nil {
			return err
		}
	}
	return r.start(h.NumValues, h.Encoding, levels, values)
}

func (r *pageReader) turnDataV2(h *format.DataPageHeaderV2) (err error) {
	skipped, levels := int64(h.RepetitionLevelsByteLength), int64(h.DefinitionLevelsByteLength)
	if skipped < 0 || levels < 0 || skipped+levels > int64(len(r.packed)) {
		return errors.New("a page shorter than its levels")
	}
	values := r.packed[skipped+levels:]
	if compressed, ok := h.IsCompressed.Get(); compressed || !ok {
		if len(values) > 0 {
			if r.page, err = r.unpack(r.page, values); err != nil {
				return err
			}
			values = r.page
		}
	}
	return r.start(h.NumValues, h.Encoding, r.packed[skipped:skipped+levels], values)
}

// start sets about giving out a page's values.
func (r *pageReader) start(n int32, encoding format.Encoding, levels, values []byte) error {
	if n < 0 {
		return fmt.Errorf("a page of %d values", n)
	}
	r.left = int(n)
	r.levels = hybrid{data: levels, width: bits.Len(uint(r.maxLevel))}
	switch encoding {
	case format.Plain:
		r.indexed, r.plain = false, values
		return nil
	case format.RLEDictionary, plainDictionary:
		r.indexed, r.indices = true, hybrid{}
		if len(values) == 0 {
			return nil // all null
		}
		if values[0] > maxWidth {
			return fmt.Errorf("indices of %d bits", values[0])
		}
		r.indices = hybrid{data: values[1:], width: int(values[0])}
		return nil
	}
	return fmt.Errorf("values in the encoding %v", encoding)
}

// resized is buf with n bytes, whatever they are. Pages of a column are about
// alike: an eighth more is room for those to come.
func resized(buf []byte, n int) []byte {
	if n > cap(buf) {
		return make([]byte, n, n+n/8)
	}
	return buf[:n]
}
