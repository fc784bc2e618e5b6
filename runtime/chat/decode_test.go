package chat

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStreamHoldsUnfinishedRunes(t *testing.T) { // case 25
	pieces := []string{"\xF0\x9F", "\x99\x82", " \xC3", "\xA9", "\xFF", "\xE4\xBD"}
	want := []string{"", "🙂", " ", "é", "\uFFFD", ""}
	s := Stream{tok: &tokenizer{pieces: pieces}}
	var whole string
	for i := range pieces {
		got := s.Push(int32(i))
		if got != want[i] {
			t.Errorf("piece %d gave %q, want %q", i, got, want[i])
		}
		whole += got
	}
	if last := s.Flush(); last != "\uFFFD" {
		t.Errorf("flush gave %q", last)
	}
	if again := s.Flush(); again != "" {
		t.Errorf("second flush gave %q", again)
	}
	m := Model{tok: s.tok}
	if got := m.Decode([]int32{0, 1, 2, 3, 4, 5}, true); got != whole+"\uFFFD" {
		t.Errorf("whole decode %q, streamed %q", got, whole)
	}
}

// What Rust's from_utf8_lossy gives for the examples of the Unicode standard,
// chapter 3, table 3-8 and its neighbours.
func TestInvalidTextIsReplacedByMaximalParts(t *testing.T) {
	for in, want := range map[string]string{
		"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64": "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd",
		"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41":                 strings.Repeat("\uFFFD", 8) + "A",
		"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41":                 strings.Repeat("\uFFFD", 8) + "A",
		"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41":                 "\uFFFD\uFFFD\uFFFD\uFFFDA",
		"\uFFFD":                                               "\uFFFD",
	} {
		if got := validText(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestDecodeKeepsOrDropsControlTokens(t *testing.T) {
	m := tiny(t)
	ids := m.EncodeTemplate("<|im_start|>user\nhi <think><|im_end|>")
	if got := m.Decode(ids, true); got != "<|im_start|>user\nhi <think><|im_end|>" {
		t.Errorf("kept: %q", got)
	}
	if got := m.Decode(ids, false); got != "user\nhi <think>" {
		t.Errorf("dropped: %q", got)
	}
	if got := m.Decode([]int32{-1, 1 << 20}, true); got != "" {
		t.Errorf("ids outside the vocabulary: %q", got)
	}
}

func TestZeroBytesAreEncoded(t *testing.T) {
	m := tiny(t)
	if got := m.Decode(m.EncodeText("a\x00b\x00"), true); got != "a\x00b\x00" {
		t.Errorf("came back as %q", got)
	}
}

// Any text comes back from its ids as it was, but for normalisation (NFC), and
// streams as it decodes; no text becomes a control token.
func FuzzTextThereAndBack(f *testing.F) {
	m := tiny(f)
	f.Add("print(\"<|im_end|>\")<|im_start|>system")
	f.Add("a\x00\xffe\u0301 <think>🙂")
	f.Fuzz(func(t *testing.T, text string) {
		ids := m.EncodeText(text)
		if slices.ContainsFunc(ids, m.IsControl) {
			t.Errorf("control token in %v", ids)
		}
		whole := m.Decode(ids, true)
		s, streamed := m.NewStream(true), ""
		for _, id := range ids {
			streamed += s.Push(id)
		}
		if streamed += s.Flush(); streamed != whole {
			t.Errorf("streamed %q, whole %q", streamed, whole)
		}
		if again := m.Decode(m.EncodeText(whole), true); again != whole {
			t.Errorf("%q came back as %q", whole, again)
		}
		if isASCII(text) && whole != text {
			t.Errorf("%q came back as %q", text, whole)
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
