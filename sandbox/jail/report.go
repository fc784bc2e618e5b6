package jail

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
)

// tokenLength is the length of the word that opens a genuine report.
const tokenLength = 26

// startedMark opens what a process sends in which the program has started.
const startedMark = "+"

func newToken() string { return rand.Text() }

// read takes the report that the trusted part of the job's process wrote. A
// program cannot gain by forging one: a value is compared outside, every other
// report is a failure, and a failure of ours ends with the program's start.
func (o *Outcome) read(data []byte, token string) error {
	if len(data) == 0 {
		return nil
	}
	data, started := bytes.CutPrefix(data, []byte(startedMark))
	if started && len(data) == 0 {
		return nil
	}
	body, genuine := bytes.CutPrefix(data, []byte(token))
	if !genuine || len(body) == 0 {
		o.Report = ReportForged
		return nil
	}
	kind, body := body[0], body[1:]
	switch kind {
	case 'i':
		if started {
			o.Report = ReportForged // the program wants its failure to be ours
			return nil
		}
		return fmt.Errorf("sandbox: %s", body)
	case 'c':
		o.Report = ReportCompile
	case 'm':
		o.Report = ReportMemory
	case 'v':
		o.Report, o.Value = ReportValue, body
	default:
		o.Report = ReportForged
	}
	if kind == 'v' != validValue(body) || len(body) > 0 && kind != 'v' {
		o.Report, o.Value = ReportForged, nil
	}
	return nil
}

// validValue says whether data is one JSON value, where NaN, Infinity and
// -Infinity may stand for numbers as Python writes them.
func validValue(data []byte) bool {
	return json.Valid(data) || json.Valid(withoutNonFinite(data))
}

// withoutNonFinite puts 0 for each non-finite number outside strings.
func withoutNonFinite(data []byte) []byte {
	out := make([]byte, 0, len(data))
	quoted := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case quoted && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
			c = data[i]
		case c == '"':
			quoted = !quoted
		case !quoted && (c == 'N' || c == 'I'):
			if word := nonFinite(data[i:]); word > 0 {
				out = append(out, '0')
				i += word - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func nonFinite(data []byte) int {
	for _, word := range []string{"NaN", "Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
