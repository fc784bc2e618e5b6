package logs

import (
	"bytes"
	"errors"
	"math"

	"github.com/tidwall/gjson"
)

var errNotSteps = errors.New("not a JSON object with a whole number \"step\"")

// parseObject reads one line of a metrics file: {"step": N, key: value, …}, or
// {"step": N, "data": {key: value, …}} as verl's file logger writes it. Python's
// NaN and Infinity are accepted where JSON has no such thing; null is taken for
// the nan or inf that a strict writer cannot express.
func parseObject(line []byte) (stepLine, error) {
	if !gjson.ValidBytes(line) {
		line = quoteNonFinite(line)
	}
	object := gjson.ParseBytes(line)
	step := object.Get("step")
	if !gjson.ValidBytes(line) || !object.IsObject() || step.Type != gjson.Number || step.Num != math.Trunc(step.Num) || math.Abs(step.Num) > 1e15 || step.Num < 0 {
		return stepLine{}, errNotSteps
	}
	s := stepLine{step: int64(step.Num)}
	s.add(object)
	return s, nil
}

// add appends the members of an object, and those of its member "data".
func (s *stepLine) add(object gjson.Result) {
	object.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "step":
		case key.Str == "data" && value.IsObject():
			s.add(value)
		case value.IsObject() || value.IsArray() || !isKey(key.Str):
		default:
			s.fields = append(s.fields, jsonField(key.Str, value))
		}
		return true
	})
}

func jsonField(key string, value gjson.Result) field {
	f := field{key: key, text: value.String()}
	switch value.Type {
	case gjson.Null:
		f.value, f.kind = math.NaN(), isMissing
	case gjson.Number:
		f.value, f.kind = value.Num, isNumber
	case gjson.True:
		f.value = 1
	case gjson.False:
	default:
		f.value, f.kind = parseNumber(value.Str)
	}
	return f
}

// quoteNonFinite puts NaN, Infinity and -Infinity outside strings in quotes.
func quoteNonFinite(line []byte) []byte {
	out := make([]byte, 0, len(line)+16)
	quoted := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if !quoted {
			if word := nonFiniteAt(line[i:]); word > 0 {
				out = append(out, '"')
				out = append(out, line[i:i+word]...)
				out = append(out, '"')
				i += word - 1
				continue
			}
		}
		if c == '\\' && quoted && i+1 < len(line) {
			out = append(out, c, line[i+1])
			i++
			continue
		}
		if c == '"' {
			quoted = !quoted
		}
		out = append(out, c)
	}
	return out
}

func nonFiniteAt(text []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
