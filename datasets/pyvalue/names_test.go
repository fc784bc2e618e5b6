package pyvalue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

// TestNamesAreCPythons holds every character's name against CPython 3.11, whose
// Unicode is older than Go's: testdata/named.py printed the two numbers.
func TestNamesAreCPythons(t *testing.T) {
	const count, want = 138552, "6685d8a8439e6e7c1b14535d480abcf122ba775303b900abed5969058a03ec79"
	var names characterNames
	digest, n := sha256.New(), 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, name := range []string{runenames.Name(r), fmt.Sprintf("CJK UNIFIED IDEOGRAPH-%X", r), hangulName(r)} {
			if found, ok := names.find(name); ok && found == r {
				fmt.Fprintf(digest, "%x\n", r)
				n++
				break
			}
		}
	}
	if got := hex.EncodeToString(digest.Sum(nil)); n != count || got != want {
		t.Errorf("%d characters have names (%s), CPython has %d (%s)", n, got, count, want)
	}
}

// hangulName is "" for what is no syllable.
func hangulName(r rune) string {
	i := int(r) - hangulBase
	if i < 0 || i >= 19*21*28 {
		return ""
	}
	part := func(parts string, i int) string { return strings.Split(parts, " ")[i] }
	return "HANGUL SYLLABLE " + part(leads, i/28/21) + part(vowels, i/28%21) + part(tails, i%28)
}
