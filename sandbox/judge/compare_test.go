package judge

import (
	"strings"
	"testing"
)

func TestTextRules(t *testing.T) {
	near := &Checker{Mode: "rel_or_abs", Eps: 1e-6}
	abs := &Checker{Mode: "abs", Eps: 1e-3}
	exact := &Checker{Mode: "exact"}
	tests := []struct {
		name          string
		expected, got string
		mode          Mode
		checker       *Checker
		same          bool
	}{
		{"underscores are no digits", "1000", "1_000", Strict, nil, false},
		{"plain numerals are numbers", "2.5 100000", "2.50 1e5", Strict, nil, true},
		{"a row of digits", "0101", "101", Strict, nil, false},
		{"zeros in front", "7 -1", "7 -01", Tokens, nil, false},
		{"zeros before the point", "0.5 0 -0", "0.50 0e3 0", Lines, nil, true},
		{"zeros in front as published", "0101", "101", Published, nil, true},
		{"zeros in front under a tolerance", "1.5", "01.5", Strict, near, false},
		{"infinity is a word", "inf", "Infinity", Strict, nil, false},
		{"the same word", "nan", "nan", Strict, nil, true},
		{"digits of another script", "3", "٣", Strict, nil, false},
		{"inner white space of words", "a b", "a  b", Strict, nil, false},
		{"inner white space of numbers", "1 2", "1  2 \n", Strict, nil, true},
		{"case", "Yes", "yes", Strict, nil, false},
		{"a prefix", "1\n2\n3", "1", Strict, nil, false},
		{"more lines", "1", "1\n2", Strict, nil, false},
		{"zero mode is strict", "1000", "1_000", "", nil, false},
		{"no digits at all", "1", "", Strict, nil, false},

		{"lines do not matter", "1 2\n3", "1\n2 3", Tokens, nil, true},
		{"a token less", "1 2", "1", Tokens, nil, false},
		{"numbers among words", "x 1.0", "x 1", Tokens, nil, true},
		{"near is not equal", "0.333333333333", "0.333333", Tokens, nil, false},

		{"near enough", "0.333333333333", "0.333333", Strict, near, true},
		{"integers stay exact", "3", "3.0000001", Strict, near, false},
		{"relative 9e-7", "1000000.0", "1000000.9", Strict, near, true},
		{"relative 2e-6", "1000000.0", "1000002.0", Strict, near, false},
		{"neighbours beyond 2^53", "10000000000000001", "10000000000000000", Strict, near, false},
		{"an exponent is a real", "1e0", "1.0000005", Strict, near, true},
		{"nan is near to nothing", "0.5", "nan", Strict, near, false},
		{"too large for a float", "1e400", "1e401", Strict, near, false},
		{"words under a tolerance", "Yes 0.5", "Yes 0.50000001", Strict, near, true},
		{"absolute only", "1000.0", "1000.5", Strict, abs, false},
		{"absolute", "1000.0", "1000.0005", Strict, abs, true},
		{"reals written short", "60", "59.99999999", Strict, &Checker{Mode: "abs", Eps: 1e-6, Reals: true}, true},
		{"checkers are off as published", "0.5", "0.50000001", Published, nil, false},
		{"digits exact", "3.14", "3.140", Strict, exact, false},
		{"lines exact but for their ends", "a\nb", " a \nb\n\n", Strict, exact, true},
	}
	for _, tt := range tests {
		if diff := diffText(tt.expected, tt.got, tt.mode, tt.checker); (diff == "") != tt.same {
			t.Errorf("%s: expected %q, got %q under %s: %q", tt.name, tt.expected, tt.got, tt.mode, diff)
		}
	}
}

func TestValueRules(t *testing.T) {
	tests := []struct {
		name          string
		expected, got string
		checker       *Checker
		same          bool
	}{
		{"True is not 1", "1", "true", nil, false},
		{"1 is 1.0", "1", "1.0", nil, true},
		{"1.0 is 1", "1.0", "1", nil, true},
		{"an int is exact", "1000000000000", "1000000000000.001", nil, false},
		{"a text is no number", `"1"`, "1", nil, false},
		{"another order of additions", "0.3", "0.30000000000000004", nil, true},
		{"1e-8 off", "0.3", "0.300000003", nil, false},
		{"NaN again", "NaN", "NaN", nil, true},
		{"NaN for a number", "1.5", "NaN", nil, false},
		{"infinities", "Infinity", "-Infinity", nil, false},
		{"nested lists", "[[1,2],[3]]", "[[1, 2], [3]]", nil, true},
		{"a longer list", "[1]", "[1,2]", nil, false},
		{"big", "123456789012345678901", "123456789012345678900", nil, false},
		{"keys in any order", `{"a":1,"b":[2.0]}`, `{"b":[2],"a":1}`, nil, true},
		{"a key more", `{"a":1}`, `{"a":1,"b":2}`, nil, false},
		{"null is a value", "null", "null", nil, true},
		{"null for a list", "[]", "null", nil, false},
		{"granted", "0.3", "0.3000001", &Checker{Mode: "rel_or_abs", Eps: 1e-6}, true},
		{"granted in a list", "[0.1, 0.2]", "[0.1, 0.20000001]", &Checker{Mode: "abs", Eps: 1e-6}, true},
		{"not granted to ints", "3", "3.0000001", &Checker{Mode: "abs", Eps: 1e-6}, false},
		{"reals written short", "[60]", "[59.99999999]", &Checker{Mode: "abs", Eps: 1e-6, Reals: true}, true},
		{"exact", "0.3", "0.30000000000000004", &Checker{Mode: "exact"}, false},
		{"not JSON", "1", "1 2", nil, false},
	}
	for _, tt := range tests {
		diff := diffValues(tt.expected, tt.got, valueRuleOf(Strict, tt.checker))
		if (diff == "") != tt.same {
			t.Errorf("%s: expected %s, got %s: %q", tt.name, tt.expected, tt.got, diff)
		}
	}
}

func TestDetails(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, tt := range []struct{ got, want string }{
		{diffText("a\nb", "a\nc", Strict, nil), "line 2: expected 'b', got 'c'"},
		{diffText("a\nb", "a", Strict, nil), "expected 2 lines, got 1"},
		{diffText("a", "a\nb", Strict, nil), "expected 1 line, got 2"},
		{diffText("a b", "a c", Tokens, nil), "token 2: expected 'b', got 'c'"},
		{diffText("x", "\x00"+long, Strict, nil), `line 1: expected 'x', got '\x00` + strings.Repeat("ä", 29) + "…'"},
		{diffValues(`{"a":[1,2]}`, `{"a":[1,3]}`, valueRuleOf(Strict, nil)), `at ["a"][1] of the returned value: expected '{"a":[1,2]}', got '{"a":[1,3]}'`},
		{diffValues("1", "2", valueRuleOf(Strict, nil)), "expected '1', got '2'"},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

func FuzzDiffText(f *testing.F) {
	f.Add("1.0 2\nx", "1 2.0\nx", 1e-6)
	f.Add("1e999999999", "1_0e999999998", 0.5)
	f.Add("\x1c٣", "sNaN", 0.0)
	f.Fuzz(func(t *testing.T, a, b string, eps float64) {
		checkers := []*Checker{nil, {Mode: "exact"}, {Mode: "tokens"}, {Mode: "rel_or_abs", Eps: eps}}
		for _, checker := range checkers {
			for _, mode := range []Mode{Published, Strict, Lines, Tokens} {
				if checker == nil && (diffText(a, b, mode, nil) == "") != (diffText(b, a, mode, nil) == "") {
					t.Fatalf("%s: %q and %q: not the same both ways", mode, a, b)
				}
				if diff := diffText(a, a, mode, checker); diff != "" {
					t.Fatalf("%s: %q differs from itself: %s", mode, a, diff)
				}
				if strings.ContainsRune(diffText(a, b, mode, checker), '\n') {
					t.Fatalf("%s: a detail of several lines for %q and %q", mode, a, b)
				}
			}
		}
	})
}

func FuzzDiffValues(f *testing.F) {
	f.Add(`{"a":[1,2.5,NaN]}`, `[true,null,"x\u00e9"]`)
	f.Add("-0", "0.0")
	f.Fuzz(func(t *testing.T, a, b string) {
		strict, published := valueRuleOf(Strict, nil), valueRuleOf(Published, nil)
		if _, err := parseValue(a); err == nil && diffValues(a, a, strict) != "" {
			t.Fatalf("%q differs from itself", a)
		}
		if (diffValues(a, b, published) == "") != (diffValues(b, a, published) == "") {
			t.Fatalf("%q and %q: not the same both ways", a, b)
		}
	})
}
