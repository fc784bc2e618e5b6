package judge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// diffText says how stdout differs from the expected text, "" when it does not.
func diffText(expected, got string, mode Mode, checker *Checker) string {
	rule := string(mode)
	if checker != nil {
		rule = checker.Mode
	}
	switch rule {
	case string(Published):
		return diffLines(expected, got, sameLine(pythonNumber))
	case "exact":
		return diffLines(expected, got, sameLine(noNumber))
	case string(Lines):
		return diffLines(expected, got, sameFields)
	case string(Tokens):
		return diffTokens(expected, got, sameToken)
	case "abs", "rel_or_abs":
		return diffTokens(expected, got, checker.nearToken)
	default:
		return diffLines(expected, got, sameLine(plainNumber))
	}
}

// diffLines is LiveCodeBench's rule for stdout: strip the whole, split at \n,
// strip each line; as many lines, each the same.
func diffLines(expected, got string, same func(expected, got string) bool) string {
	want, have := strippedLines(expected), strippedLines(got)
	for i := range min(len(want), len(have)) {
		if !same(want[i], have[i]) {
			return fmt.Sprintf("line %d: expected %s, got %s", i+1, quote(want[i]), quote(have[i]))
		}
	}
	if len(want) != len(have) {
		return fmt.Sprintf("expected %s, got %d", count(len(want), "line"), len(have))
	}
	return ""
}

// sameLine holds for lines equal as text, and for lines of nothing but numbers
// that are equal one by one. number says what a number is.
func sameLine(number func(string) (decimal, bool)) func(expected, got string) bool {
	return func(expected, got string) bool {
		return expected == got || sameNumbers(expected, got, number)
	}
}

// sameFields is sameLine of plain numbers, whatever the white space between the
// words of a line.
func sameFields(expected, got string) bool {
	return sameLine(plainNumber)(expected, got) ||
		slices.Equal(strings.FieldsFunc(expected, pythonSpace), strings.FieldsFunc(got, pythonSpace))
}

func strippedLines(text string) []string {
	lines := strings.Split(strings.TrimFunc(text, pythonSpace), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimFunc(line, pythonSpace)
	}
	return lines
}

func sameNumbers(expected, got string, number func(string) (decimal, bool)) bool {
	want, have := strings.FieldsFunc(expected, pythonSpace), strings.FieldsFunc(got, pythonSpace)
	return slices.EqualFunc(want, have, func(w, h string) bool {
		a, ok := number(w)
		if !ok {
			return false
		}
		b, ok := number(h)
		return ok && a.equal(b)
	})
}

// pythonSpace is str.isspace: Go's white space and the four separators of ASCII.
func pythonSpace(r rune) bool {
	return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
