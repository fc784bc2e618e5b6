package judge

import (
	"strings"
	"unicode"
)

// maxExponent is the largest adjusted exponent Python's decimal accepts.
const maxExponent = 999_999_999_999_999_999

// decimal is an exact number in a form where equal numbers are equal fields:
// digits have no zero at either end, value = ±digits·10^exp. Nothing is ever
// expanded, so 1e999999999 costs no more than 1.
type decimal struct {
	negative bool
	digits   string // "" is zero
	exp      int64
	special  string // "inf", "nan" or "" for a finite number
}

// equal is numeric equality; NaN equals nothing.
func (d decimal) equal(other decimal) bool {
	if d.special == "nan" || other.special == "nan" {
		return false
	}
	return d == other
}

// plainNumber reads a numeral without superfluous zeros in front: a text such as
// 0101 is a row of digits, whose length counts.
func plainNumber(s string) (decimal, bool) {
	if _, digits := sign(s); len(digits) > 1 && digits[0] == '0' && isDigit(digits[1]) {
		return decimal{}, false
	}
	return numeral(s)
}

// numeral reads [+-] digits [. digits] [e [+-] digits] in ASCII.
func numeral(s string) (decimal, bool) {
	negative, s := sign(s)
	mantissa, exponent, hasExponent := cutExponent(s)
	exp := int64(0)
	if hasExponent {
		var ok bool
		if exp, ok = exponentOf(exponent); !ok {
			return decimal{}, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return decimal{}, false
	}
	return normal(negative, whole+fraction, exp-int64(len(fraction)))
}

// pythonNumber reads everything Python's Decimal accepts: also underscores
// anywhere, digits of every script, infinities and NaN.
func pythonNumber(s string) (decimal, bool) {
	ascii, ok := asciiDigits(s)
	if !ok {
		return decimal{}, false
	}
	if d, ok := numeral(ascii); ok {
		return d, true
	}
	negative, word := sign(strings.ToLower(ascii))
	switch word {
	case "inf", "infinity":
		return decimal{negative: negative, special: "inf"}, true
	}
	word = strings.TrimPrefix(word, "s")
	if payload, ok := strings.CutPrefix(word, "nan"); ok && allDigits(payload) {
		return decimal{special: "nan"}, true
	}
	return decimal{}, false
}

func asciiDigits(s string) (string, bool) {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '_':
		case r < unicode.MaxASCII:
			b.WriteRune(r)
		default:
			digit, ok := digitValue(r)
			if !ok {
				return "", false
			}
			b.WriteByte('0' + digit)
		}
	}
	return b.String(), true
}

// digitValue relies on Unicode's promise that decimal digits come in runs of
// ten from zero, so a table range is one or more whole runs.
func digitValue(r rune) (byte, bool) {
	for _, run := range unicode.Nd.R16 {
		if lo := rune(run.Lo); lo <= r && r <= rune(run.Hi) {
			return byte((r - lo) % 10), true
		}
	}
	for _, run := range unicode.Nd.R32 {
		if lo := rune(run.Lo); lo <= r && r <= rune(run.Hi) {
			return byte((r - lo) % 10), true
		}
	}
	return 0, false
}

func sign(s string) (negative bool, rest string) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[0] == '-', s[1:]
	}
	return false, s
}

func cutExponent(s string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// exponentOf reads an exponent of at most 18 significant digits.
func exponentOf(s string) (int64, bool) {
	negative, digits := sign(s)
	if digits == "" || !allDigits(digits) {
		return 0, false
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > 18 {
		return 0, false
	}
	exp := int64(0)
	for _, c := range []byte(digits) {
		exp = exp*10 + int64(c-'0')
	}
	if negative {
		exp = -exp
	}
	return exp, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// normal brings digits·10^exp to its one form; ok is false beyond the range.
func normal(negative bool, digits string, exp int64) (decimal, bool) {
	digits = strings.TrimLeft(digits, "0")
	if exp+int64(len(digits))-1 > maxExponent {
		return decimal{}, false
	}
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return decimal{}, true
	}
	return decimal{negative: negative, digits: short, exp: exp + int64(len(digits)-len(short))}, true
}

// noNumber treats no token as a number: lines are equal as text or not at all.
func noNumber(string) (decimal, bool) { return decimal{}, false }
