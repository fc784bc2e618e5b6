package logs

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder makes UTF-8 of a log as it is read: a byte order mark is left out, and
// UTF-16, which the shells of Windows redirect into files, is known by its mark,
// or by the zeros beside the first two letters.
type decoder struct {
	known bool   // which encoding it is
	rest  []byte // bytes that need those to come
	order binary.ByteOrder
	out   []byte
}

// sniffLength is how many bytes tell the encoding.
const sniffLength = 4

// text is the next bytes as UTF-8, valid until the next call; last says that no
// more come.
func (d *decoder) text(chunk []byte, last bool) []byte {
	if d.known && d.order == nil {
		return chunk
	}
	d.rest = append(d.rest, chunk...)
	if !d.known {
		if len(d.rest) < sniffLength && !last {
			return nil
		}
		d.sniff()
	}
	if d.order == nil {
		d.out, d.rest = append(d.out[:0], d.rest...), nil
		return d.out
	}
	return d.units()
}

// sniff finds the encoding by the first bytes, and drops a byte order mark.
func (d *decoder) sniff() {
	d.known = true
	for mark, order := range map[string]binary.ByteOrder{"\xef\xbb\xbf": nil, "\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if after, found := bytes.CutPrefix(d.rest, []byte(mark)); found {
			d.rest, d.order = after, order
			return
		}
	}
	if len(d.rest) < sniffLength {
		return
	}
	switch a, b, c, e := d.rest[0] == 0, d.rest[1] == 0, d.rest[2] == 0, d.rest[3] == 0; {
	case !a && b && !c && e:
		d.order = binary.LittleEndian
	case a && !b && c && !e:
		d.order = binary.BigEndian
	}
}

// units decodes the UTF-16 that is whole.
func (d *decoder) units() []byte {
	d.out = d.out[:0]
	for len(d.rest) >= 2 {
		c, size := rune(d.order.Uint16(d.rest)), 2
		if utf16.IsSurrogate(c) {
			if len(d.rest) < 4 {
				break
			}
			if pair := utf16.DecodeRune(c, rune(d.order.Uint16(d.rest[2:]))); pair != utf8.RuneError {
				c, size = pair, 4
			}
		}
		d.out = utf8.AppendRune(d.out, c)
		d.rest = d.rest[size:]
	}
	d.rest = bytes.Clone(d.rest) // not the whole chunk
	return d.out
}
