package pyvalue

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

// aliasTable holds the Unicode character database's name aliases that CPython's
// \N{…} knows, a line each: code point in hexadecimal, semicolon, name.
//
//go:embed aliases.txt
var aliasTable string

// characterNames finds characters by name, for \N{…}. Its index is built at the
// first look-up: few texts need it, and it takes some megabytes.
type characterNames struct {
	byName map[string]rune
	newer  *unicode.RangeTable // characters that CPython does not know yet
}

// find looks a name up as CPython does: without regard to case, except where the
// name is computed; aliases included, named sequences not.
func (c *characterNames) find(name string) (rune, bool) {
	if c.byName == nil {
		c.build()
	}
	r, ok := c.lookUp(name)
	return r, ok && !unicode.Is(c.newer, r)
}

func (c *characterNames) lookUp(name string) (rune, bool) {
	if r, ok := hangulSyllable(name); ok {
		return r, true
	}
	if r, ok := ideograph(name); ok {
		return r, true
	}
	r, ok := c.byName[strings.ToUpper(name)]
	return r, ok
}

func (c *characterNames) build() {
	c.newer = unicode15()
	c.byName = make(map[string]rune, 35_000)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		// Names in angle brackets are of whole ranges.
		if name := runenames.Name(r); name != "" && name[0] != '<' {
			c.byName[name] = r
		}
	}
	for line := range strings.Lines(aliasTable) {
		code, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ";")
		if r, err := strconv.ParseUint(code, 16, 32); err == nil {
			c.byName[name] = rune(r)
		}
	}
}

// ideograph resolves the names that end in their own code point.
func ideograph(name string) (rune, bool) {
	digits, ok := strings.CutPrefix(name, "CJK UNIFIED IDEOGRAPH-")
	if !ok || len(digits) < 4 || len(digits) > 5 || digits != strings.ToUpper(digits) {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	r := rune(n)
	compatibility := 0xf900 <= r && r <= 0xfaff // these have names of their own
	return r, err == nil && !compatibility && unicode.Is(unicode.Unified_Ideograph, r)
}

// The parts of a Hangul syllable's name, in the order of the code points
// (Unicode standard, chapter 3.12).
const (
	hangulBase = 0xac00
	leads      = "G GG N D DD R M B BB S SS  J JJ C K T P H"
	vowels     = "A AE YA YAE EO E YEO YE O WA WAE OE YO U WEO WE WI YU EU YI I"
	tails      = " G GG GS N NJ NH D L LG LM LB LS LT LP LH M B BS S SS NG J C K T P H"
)

// hangulSyllable resolves the names that are made of their parts' names.
func hangulSyllable(name string) (rune, bool) {
	rest, ok := strings.CutPrefix(name, "HANGUL SYLLABLE ")
	if !ok {
		return 0, false
	}
	lead, rest := longestPart(rest, leads)
	vowel, rest := longestPart(rest, vowels)
	tail, rest := longestPart(rest, tails)
	if vowel < 0 || lead < 0 || tail < 0 || rest != "" {
		return 0, false
	}
	return hangulBase + rune((lead*21+vowel)*28+tail), true
}

// longestPart takes the longest of parts off text's start; -1 when none fits.
func longestPart(text, parts string) (index int, rest string) {
	index, longest := -1, 0
	for i, part := range strings.Split(parts, " ") {
		if strings.HasPrefix(text, part) && (index < 0 || len(part) > longest) {
			index, longest = i, len(part)
		}
	}
	return index, text[longest:]
}
