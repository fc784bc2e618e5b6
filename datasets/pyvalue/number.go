package pyvalue

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number reads an int, float or imaginary literal.
func (p *literalParser) number() (Value, error) {
	start := p.at
	if base := p.basePrefix(); base != 0 {
		return p.basedInt(base)
	}
	isFloat, err := p.decimal()
	if err != nil {
		return Value{}, err
	}
	digits := strings.ReplaceAll(p.text[start:p.at], "_", "")
	if p.at < len(p.text) && p.text[p.at]|0x20 == 'j' {
		p.at++
		return Value{Kind: Complex, Imag: parseFloat(digits)}, p.endOfNumber()
	}
	if err := p.endOfNumber(); err != nil {
		return Value{}, err
	}
	if isFloat {
		return Value{Kind: Float, Real: parseFloat(digits)}, nil
	}
	return p.decimalInt(digits)
}

// basePrefix consumes 0x, 0o or 0b and returns the base, 0 when there is none.
func (p *literalParser) basePrefix() int {
	if p.at+1 >= len(p.text) || p.text[p.at] != '0' {
		return 0
	}
	base := 0
	switch p.text[p.at+1] | 0x20 {
	case 'x':
		base = 16
	case 'o':
		base = 8
	case 'b':
		base = 2
	default:
		return 0
	}
	p.at += 2
	return base
}

func (p *literalParser) basedInt(base int) (Value, error) {
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] == '_' || isHex(p.text[p.at])) {
		p.at++
	}
	digits := p.text[start:p.at]
	if digits == "" || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") {
		return Value{}, p.fail("a number without digits")
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(digits, "_", ""), base)
	if !ok {
		return Value{}, p.fail("a digit too large for its base")
	}
	return intValue(n), p.endOfNumber()
}

// maxDecimalBits is above the length of any integer of maxDigits digits.
const maxDecimalBits = 14300

// intValue keeps an integer that has too many decimals to be printed as
// hexadecimal: its decimals are never needed, and take quadratic time.
func intValue(n *big.Int) Value {
	if n.BitLen() > maxDecimalBits {
		return Value{Kind: Int, Text: "0x" + n.Text(16)}
	}
	return Value{Kind: Int, Text: n.String()}
}

// decimal passes digits, point and exponent.
func (p *literalParser) decimal() (isFloat bool, err error) {
	if isDigit(p.text[p.at]) {
		p.digits()
	}
	if p.next('.') {
		isFloat = true
		if p.at < len(p.text) && isDigit(p.text[p.at]) {
			p.digits()
		}
	}
	if p.at < len(p.text) && p.text[p.at]|0x20 == 'e' {
		isFloat = true
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if p.at == len(p.text) || !isDigit(p.text[p.at]) {
			return isFloat, p.fail("an exponent without digits")
		}
		p.digits()
	}
	return isFloat, nil
}

// digits passes digits with single underscores between them.
func (p *literalParser) digits() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case isDigit(c):
		case c == '_' && p.at+1 < len(p.text) && isDigit(p.text[p.at+1]):
		default:
			return
		}
		p.at++
	}
}

func (p *literalParser) endOfNumber() error {
	if p.at < len(p.text) {
		if c := p.text[p.at]; isLetter(c) || isDigit(c) || c >= utf8.RuneSelf {
			return p.fail("a letter right after a number")
		}
	}
	return nil
}

func (p *literalParser) decimalInt(digits string) (Value, error) {
	if digits[0] == '0' {
		if strings.Trim(digits, "0") != "" {
			return Value{}, p.fail("leading zeros in an integer")
		}
		return Value{Kind: Int, Text: "0"}, nil
	}
	if len(digits) > maxDigits {
		return Value{}, p.fail("an integer of more than 4300 digits")
	}
	return Value{Kind: Int, Text: digits}, nil
}

// parseFloat reads checked digits; what is too large becomes infinite, as in
// Python.
func parseFloat(digits string) float64 {
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN() // digits were checked by the caller: cannot be
	}
	return f
}

func negate(v Value) Value {
	switch v.Kind {
	case Float:
		v.Real = -v.Real
	case Complex:
		v.Real, v.Imag = -v.Real, -v.Imag
	case Int:
		if v.Text != "0" {
			v.Text = "-" + v.Text
		}
	}
	return v
}

// addComplex is left ± right for an int or float and an imaginary literal.
func (p *literalParser) addComplex(left, right Value, minus bool) Value {
	re := left.Real
	if left.Kind == Int {
		f, err := intFloat(left.Text)
		if err != nil {
			p.raise(err)
		}
		re = f
	}
	if minus {
		right.Imag = -right.Imag
	}
	return Value{Kind: Complex, Real: re, Imag: right.Imag}
}

// intFloat is float(int), which raises where the integer is too large.
func intFloat(text string) (float64, error) {
	n, ok := new(big.Int).SetString(text, 0)
	if ok {
		if f, _ := n.Float64(); !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return 0, &Raised{"OverflowError", "int too large to convert to float"}
}

func isHex(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}
