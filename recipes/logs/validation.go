package logs

import "strings"

// validationMark begins the dictionary that verl prints of a validation outside
// the steps, before training as "Initial" and at the end as "Final".
const validationMark = "validation metrics: "

// Limits of a printed dictionary.
const (
	maxDictionary      = 1 << 20 // bytes
	maxDictionaryLines = 5000    // of the log since its first
)

// dictionary collects a printed dictionary, which may stand on one line, or be
// wrapped by pprint into quoted pieces on many, with other processes' lines in
// between.
type dictionary struct {
	first  int64 // the line it begins on
	quoted bool
	text   strings.Builder
	lines  int
}

// beginDictionary starts collecting at a line that has the mark.
func beginDictionary(line string, number int64) *dictionary {
	at := strings.Index(line, validationMark)
	if at < 0 || !strings.Contains(line[at:], "{") {
		return nil
	}
	head := strings.TrimSuffix(strings.TrimSuffix(line[:at], "Initial "), "Final ")
	d := &dictionary{first: number}
	if head != "" && (head[len(head)-1] == '"' || head[len(head)-1] == '\'') {
		d.quoted = true
		if pieces, ok := joinLiterals(line[len(head)-1:]); ok {
			d.text.WriteString(pieces)
		}
		return d
	}
	d.text.WriteString(line[at:])
	return d
}

// more takes the next line of the log; used is false where it is another
// process's.
func (d *dictionary) more(line string) (used bool) {
	d.lines++
	trimmed := strings.TrimSpace(withoutPrefix(line))
	if d.quoted {
		pieces, ok := joinLiterals(trimmed)
		if ok {
			d.text.WriteString(pieces)
		}
		return ok
	}
	if trimmed == "" || !strings.ContainsAny(trimmed[:1], "'\"{}") {
		return false
	}
	d.text.WriteString(trimmed)
	return true
}

// overlong says whether it is longer than a dictionary can be.
func (d *dictionary) overlong() bool {
	return d.lines > maxDictionaryLines || d.text.Len() > maxDictionary
}

// fields are the numeric entries; whole is false while the end is missing.
func (d *dictionary) fields() (fields []field, whole bool) {
	text := d.text.String()
	open := strings.IndexByte(text, '{')
	if open < 0 || !strings.HasSuffix(strings.TrimRight(text, " \n"), "}") {
		return nil, false
	}
	rest := text[open+1:]
	for {
		rest = strings.TrimLeft(rest, " ,\n")
		if strings.HasPrefix(rest, "}") {
			return fields, true
		}
		key, after, ok := literal(rest)
		after, isEntry := strings.CutPrefix(strings.TrimLeft(after, " "), ":")
		if !ok || !isEntry {
			return nil, false
		}
		var value string
		if value, rest = cutValue(strings.TrimLeft(after, " ")); rest == "" {
			return nil, false
		}
		if v, kind := parseNumber(value); kind == isNumber && isKey(key) {
			fields = append(fields, field{key: key, text: value, value: v})
		}
	}
}

// cutValue splits an entry's value from the comma or brace behind it; rest is
// empty where neither comes.
func cutValue(text string) (value, rest string) {
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			_, after, ok := literal(text[i:])
			if !ok {
				return text, ""
			}
			i = len(text) - len(after)
			continue
		case depth == 0 && (c == ',' || c == '}'):
			return text[:i], text[i:]
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		i++
	}
	return text, ""
}

// joinLiterals is the text of adjacent Python strings; ok is false where anything
// but brackets and blanks stands between them.
func joinLiterals(line string) (text string, ok bool) {
	rest := strings.Trim(line, " ()")
	for rest != "" {
		piece, after, isLiteral := literal(rest)
		if !isLiteral {
			return "", false
		}
		text += piece
		rest = strings.Trim(after, " ()")
		ok = true
	}
	return text, ok
}

// literal reads a Python string that begins text, without prefix; escapes other
// than of quotes, backslash and newline stay as they are.
func literal(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", text, false
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0]:
			return out.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case '\\', '\'', '"':
				out.WriteByte(text[i])
			case 'n':
				out.WriteByte('\n')
			default:
				out.WriteByte('\\')
				out.WriteByte(text[i])
			}
		default:
			out.WriteByte(c)
		}
	}
	return "", text, false
}
