package verl

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Override is one argument of a Hydra command line.
type Override struct {
	Add    bool // +key: the configuration does not have it yet
	Force  bool // ++key: whether it has it or not
	Delete bool // ~key
	Key    string
	Value  any // string, bool, int, float64, []string, []float64, []pair; Raw of the user's own
}

// Raw is a value as the user wrote it, in Hydra's grammar.
type Raw string

// pair is an entry of a dictionary; its value is of those of Override.
type pair struct {
	name  string
	value any
}

// String is the override as Hydra reads it.
func (o Override) String() string {
	mark := ""
	switch {
	case o.Delete:
		return "~" + o.Key
	case o.Force:
		mark = "++"
	case o.Add:
		mark = "+"
	}
	return mark + o.Key + "=" + hydra(o.Value)
}

var dottedKey = regexp.MustCompile(`^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$`)

// ParseOverride reads an override of the user's.
func ParseOverride(text string) (Override, error) {
	var o Override
	rest := text
	switch {
	case strings.HasPrefix(rest, "++"):
		o.Add, o.Force, rest = true, true, rest[2:]
	case strings.HasPrefix(rest, "+"):
		o.Add, rest = true, rest[1:]
	case strings.HasPrefix(rest, "~"):
		o.Delete, rest = true, rest[1:]
	}
	name, value, found := strings.Cut(rest, "=")
	if !found && !o.Delete {
		return Override{}, fmt.Errorf("override %q: want key=value", text)
	}
	if !dottedKey.MatchString(name) {
		return Override{}, fmt.Errorf("override %q: %q is no key of a configuration", text, name)
	}
	if strings.ContainsAny(value, "\n\x00") {
		return Override{}, errors.New("an override's value is one line")
	}
	o.Key, o.Value = name, Raw(value)
	return o, nil
}

// isCollection tells whether Hydra sees a list or a dictionary.
func isCollection(value any) bool {
	switch v := value.(type) {
	case []string, []float64, []pair:
		return true
	case Raw:
		return strings.HasPrefix(string(v), "{") || strings.HasPrefix(string(v), "[")
	}
	return false
}

// hydra writes a value in Hydra's override grammar.
func hydra(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int:
		return strconv.Itoa(v)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // or it would be an integer there
		}
		return text
	case string:
		return hydraText(v)
	case Raw:
		return string(v)
	case []string:
		return "[" + joined(v, hydraText) + "]"
	case []float64:
		return "[" + joined(v, func(x float64) string { return hydra(x) }) + "]"
	case []pair:
		return "{" + joined(v, func(p pair) string { return p.name + ":" + hydra(p.value) }) + "}"
	}
	return fmt.Sprint(value)
}

func joined[T any](all []T, text func(T) string) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = text(v)
	}
	return strings.Join(parts, ",")
}

// plainText is what needs no quotes: no number, no word that means something, no
// character of the grammar.
var (
	plainText = regexp.MustCompile(`^[A-Za-z_/][\w/.:@+-]*$`)
	meaning   = regexp.MustCompile(`(?i)^(true|false|null|nan|inf)$`)
)

func hydraText(text string) string {
	if plainText.MatchString(text) && !meaning.MatchString(text) && !strings.HasSuffix(text, ":") {
		return text
	}
	// A backslash is one unless it stands before a quote, or before what OmegaConf
	// would take for a reference to another key.
	var b strings.Builder
	slashes := 0
	for i, r := range text {
		switch {
		case r == '\\':
			slashes++
		case r == '\'' || strings.HasPrefix(text[i:], "${"):
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	return "'" + b.String() + "'"
}
