package pyvalue

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPlainRun compares eight bytes at a time with one at a time.
func FuzzPlainRun(f *testing.F) {
	for at := range 17 {
		for _, odd := range []string{"", "\x00", "\x1f", " ", "~", "\x7f", "\x80", "\xff", `"`, `'`, `\`} {
			f.Add(strings.Repeat("a", at) + odd + strings.Repeat("!", 16-at))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i := range len(s) + 1 {
			want := i
			for want < len(s) && s[want] >= ' ' && s[want] < 0x7f && !strings.ContainsRune(`"'\`, rune(s[want])) {
				want++
			}
			if got := plainRun(s, i); got != want {
				t.Fatalf("%q from %d on: %d, want %d", s, i, got, want)
			}
		}
	})
}

// FuzzStringJSON checks that a written string is ASCII and reads back.
func FuzzStringJSON(f *testing.F) {
	f.Add("a\"'\\/\n\x00\x7fé\U0001f600")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		text := appendString(nil, s)
		for _, c := range text {
			if c < ' ' || c > '~' {
				t.Fatalf("%q gives %q", s, text)
			}
		}
		if v, err := ParseJSON(string(text)); err != nil || !v.IsStr(s) {
			t.Fatalf("%q gives %q: %v", s, text, err)
		}
	})
}
