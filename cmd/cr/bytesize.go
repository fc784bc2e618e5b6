package main

import (
	"fmt"
	"strconv"
	"strings"
)

// byteSize is a flag's number of bytes: 512M, 4G, or plain bytes. The units are
// powers of 1024.
type byteSize int64

// UnmarshalText reads the flag.
func (b *byteSize) UnmarshalText(text []byte) error {
	number := strings.TrimSuffix(strings.ToUpper(string(text)), "B")
	shift := 0
	for unit, s := range map[string]int{"K": 10, "M": 20, "G": 30, "T": 40} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = rest, s
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return fmt.Errorf("%q: want a size such as 512M or 4G", text)
	}
	*b = byteSize(n << shift)
	return nil
}
