package chat

import (
	"math"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Names under which templates find our versions of two filters. The engine's
// tojson sorts keys when it indents and writes numbers in Go's style, and so
// does its string; prompts must be those of transformers, where Python writes.
const (
	jsonFilter   = "cr_tojson"
	stringFilter = "cr_string"
)

// ownFilter tells which of the two a template means by name.
func ownFilter(name string) string {
	switch name {
	case "tojson":
		return jsonFilter
	case "string":
		return stringFilter
	}
	return name
}

// filterString is Python's str().
func filterString(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	switch {
	case len(args) == 0 || args[0].IsUndefined():
		return jinja.NewString(""), nil
	case args[0].IsString():
		return args[0], nil
	case args[0].IsFloat():
		return jinja.NewString(pyFloat(args[0].AsFloat())), nil
	}
	return jinja.NewString(args[0].String()), nil
}

// pyFloat is Python's repr of a float: the shortest digits that read back, an
// exponent only outside 1e-4 ≤ |f| < 1e16, and ".0" on whole numbers.
func pyFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64)+"inity", "+")
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
