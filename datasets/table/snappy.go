package table

import (
	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// Snappy is the SNAPPY codec at the speed that the format is known for. The
// parquet library's own looks for longer matches: files of digits become a
// quarter smaller, and writing them takes three times as long.
type Snappy struct{ snappy.Codec }

// Encode returns src compressed, in dst's memory if it fits there.
func (*Snappy) Encode(dst, src []byte) ([]byte, error) {
	return s2.EncodeSnappy(dst, src), nil
}
