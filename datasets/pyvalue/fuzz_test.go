package pyvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"
)

// FuzzParse checks what holds for any text: the parsers end, what they accept
// can be written as JSON unless Python could not either, and that JSON reads
// back as itself.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{'a': [1, -2.5, 1e999, 0x1f, 1_0], "b": (None, True, ...)}`, `{"a": true, "b": "\ud83d\ude00\/"}`,
		"'a' \"b\" r'\\n' b'c'", "'''x\ny''' # c\n", `'\N{DIGIT ONE}\x41\101\u4e2d'`, "{1, 2}", "set()", "1+2j",
	} {
		f.Add(seed)
	}
	var literals Literals
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (Value, error){literals.Parse, ParseJSON} {
			v, err := parse(text)
			if err != nil {
				checkError(t, err)
				continue
			}
			once, err := AppendJSON(nil, v)
			if err != nil {
				checkError(t, err)
				continue
			}
			back, err := ParseJSON(string(once))
			if err != nil {
				t.Fatalf("%q gives %q, which does not parse: %v", text, once, err)
			}
			if twice, err := AppendJSON(nil, back); err != nil || (!bytes.Equal(once, twice) && unique(once)) {
				t.Fatalf("%q gives %q, which gives %q (%v)", text, once, twice, err)
			}
		}
	})
}

func checkError(t *testing.T, err error) {
	if !errors.As(err, new(*SyntaxError)) && !errors.As(err, new(*Raised)) {
		t.Fatalf("an error of neither kind: %v", err)
	}
}

// unique reports whether a text certainly has no equal keys in one object:
// those of different types can become equal on writing.
func unique(text []byte) bool { return !bytes.ContainsRune(text, '{') }

// FuzzJSONLikeGo compares with Go's parser where the two languages agree.
func FuzzJSONLikeGo(f *testing.F) {
	f.Add(`[1, "a\u00e9", {"b": null}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 1000 {
			return
		}
		_, err := ParseJSON(text)
		if valid := json.Valid([]byte(text)); valid && err != nil {
			t.Fatalf("%q is valid JSON: %v", text, err)
		}
	})
}
