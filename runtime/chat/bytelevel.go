package chat

import (
	"strings"
	"unicode/utf8"
)

// byteRune gives the printable rune that byte-level BPE writes for byte b:
// bytes that print in Latin-1 stand for themselves, the 68 others are moved to
// U+0100 and up in byte order (GPT-2's bytes_to_unicode).
func byteRune(b byte) rune {
	if printable(b) {
		return rune(b)
	}
	moved := rune(0)
	for c := range int(b) {
		if !printable(byte(c)) {
			moved++
		}
	}
	return 0x100 + moved
}

func printable(b byte) bool {
	return b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE
}

// byteTable is the inverse of byteRune.
func byteTable() map[rune]byte {
	table := make(map[rune]byte, 256)
	for b := range 256 {
		table[byteRune(byte(b))] = byte(b)
	}
	return table
}

// pieceBytes turns a vocabulary entry into the bytes it stands for. An entry
// with a rune outside the table is no byte-level entry and stands for itself.
func pieceBytes(entry string, table map[rune]byte) string {
	out := make([]byte, 0, len(entry))
	for _, r := range entry {
		b, ok := table[r]
		if !ok {
			return entry
		}
		out = append(out, b)
	}
	return string(out)
}

// appendLossy appends p to out as UTF-8, each maximal invalid part as one
// U+FFFD (the Unicode standard's practice, and the reference tokenizer's). It
// stops before a tail that more bytes could complete, and returns that tail.
func appendLossy(out *strings.Builder, p []byte) (tail []byte) {
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if r != utf8.RuneError || size > 1 {
			out.Write(p[:size])
			p = p[size:]
			continue
		}
		if !utf8.FullRune(p) {
			return p
		}
		out.WriteRune(utf8.RuneError)
		p = p[invalidLen(p):]
	}
	return nil
}

// invalidLen is the length of the maximal invalid part that p begins with:
// the longest prefix that could still have become a rune, or one byte.
func invalidLen(p []byte) int {
	n := 1
	for n < len(p) && n < utf8.UTFMax && !utf8.FullRune(p[:n+1]) {
		n++
	}
	return n
}

// validText returns s with its invalid parts replaced, as a reader would see
// it: templates and the tokenizer work on text.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	if appendLossy(&out, []byte(s)) != nil {
		out.WriteRune(utf8.RuneError)
	}
	return out.String()
}
