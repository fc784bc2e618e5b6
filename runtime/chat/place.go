package chat

import (
	"strings"
	"unicode/utf8"
)

// border says where a place of a text lies among its tokens.
type border struct {
	before int // tokens that end at or before it
	begun  int // tokens that begin before it: one more than before if a token straddles it
}

// appendPlaced is appendTemplate, and tells where cuts, ascending places of
// text, lie among all of ids.
func (t *tokenizer) appendPlaced(ids []int32, text string, guard rune, cuts []int) ([]int32, []border) {
	var borders []border
	for at := 0; at < len(text); {
		start, end, control := t.controls.next(text[at:])
		if control == nil {
			start, end = len(text)-at, len(text)-at
		}
		segment := text[at : at+start]
		first := len(ids)
		ids = t.appendText(ids, unguard(segment, guard))
		for len(cuts) > 0 && cuts[0] < at+start {
			b := t.cut(ids[first:], segment, guard, cuts[0]-at)
			borders, cuts = append(borders, border{first + b.before, first + b.begun}), cuts[1:]
		}
		if control != nil {
			borders, cuts = aroundControl(borders, cuts, len(ids), at+start, at+end)
			ids = append(ids, control.ID)
		}
		at += end
	}
	for range cuts {
		borders = append(borders, border{len(ids), len(ids)})
	}
	return ids, borders
}

// aroundControl places the cuts before the end of a control token, which is the
// token n and takes [start, end) of the text.
func aroundControl(borders []border, cuts []int, n, start, end int) ([]border, []int) {
	for len(cuts) > 0 && cuts[0] < end {
		b := border{n, n}
		if cuts[0] > start {
			b.begun++
		}
		borders, cuts = append(borders, b), cuts[1:]
	}
	return borders, cuts
}

// cut places a cut of a text among the tokens that the text became.
//
// A byte-level tokenizer's pieces, joined, are the text as its normaliser left
// it, so tokens are counted by their bytes. Where the normaliser changed the
// text, the cut lies behind what the text before it becomes by itself; a
// character that was composed over the cut straddles it.
func (t *tokenizer) cut(ids []int32, segment string, guard rune, at int) border {
	text, before := unguard(segment, guard), unguard(segment[:at], guard)
	joined := t.join(ids)
	low, high := len(before), len(before)
	if joined != text {
		alone := t.join(t.appendText(nil, before))
		low = commonPrefix(joined, alone)
		if high = low; low < len(alone) {
			_, size := utf8.DecodeRuneInString(joined[low:])
			high += size
		}
	}
	var b border
	for i, start := 0, 0; i < len(ids); i++ {
		end := start + len(t.pieces[ids[i]])
		if end <= low {
			b.before = i + 1
		}
		if start < high {
			b.begun = i + 1
		}
		start = end
	}
	return b
}

// join is the bytes of tokens side by side.
func (t *tokenizer) join(ids []int32) string {
	var out strings.Builder
	for _, id := range ids {
		out.WriteString(t.pieces[id])
	}
	return out.String()
}

// commonPrefix is the length of what two texts have in common at their
// beginning, in whole runes.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}
