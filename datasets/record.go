package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// record is one line of a problem file: LiveCodeBench's schema and the optional
// fields of cr. Tests stay as they came until the problem is known to be wanted.
type record struct {
	Title       string         `json:"question_title"`
	Statement   string         `json:"question_content"`
	Platform    string         `json:"platform"`
	ID          string         `json:"question_id"`
	ContestID   string         `json:"contest_id"`
	ContestDate string         `json:"contest_date"`
	StarterCode string         `json:"starter_code"`
	Difficulty  string         `json:"difficulty"`
	Public      embedded       `json:"public_test_cases"`
	Private     embedded       `json:"private_test_cases"`
	Metadata    embedded       `json:"metadata"`
	Checker     *judge.Checker `json:"checker"`
	Limits      *limits        `json:"limits"`

	date time.Time
}

// limits are a problem's own; zero fields mean the defaults.
type limits struct {
	Seconds  float64 `json:"seconds"`
	MemoryMB int64   `json:"memory_mb"`
	OutputMB int64   `json:"output_mb"`
}

// embedded is JSON kept as text in a JSON string, LiveCodeBench's way, or
// written plainly.
type embedded []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (e *embedded) UnmarshalJSON(raw []byte) error {
	if len(raw) > 1 && raw[0] == '"' {
		// Compressed tests have nothing to unescape, and are most of a file.
		if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
			*e = append((*e)[:0], raw[1:len(raw)-1]...)
			return nil
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*e = embedded(text)
		return nil
	}
	if !bytes.Equal(raw, []byte("null")) {
		*e = append((*e)[:0], raw...)
	}
	return nil
}

// empty holds for a field that is absent or blank.
func (e embedded) empty() bool { return len(bytes.TrimSpace(e)) == 0 }

func parseRecord(line []byte) (*record, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, objectProblem(line, err)
	}
	if r.ID == "" {
		return nil, errors.New("question_id is missing")
	}
	if r.ContestDate != "" {
		var err error
		if r.date, err = parseContestDate(r.ContestDate); err != nil {
			return nil, fmt.Errorf("%s: contest_date: %w", r.ID, err)
		}
	}
	return &r, nil
}

// jsonProblem puts the field first, which is what a user looks for.
func jsonProblem(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%s: a %s where %s belongs", wrong.Field, wrong.Value, jsonKind(wrong.Type))
	case errors.As(err, &wrong):
		return fmt.Errorf("a JSON %s where %s belongs", wrong.Value, jsonKind(wrong.Type))
	}
	return fmt.Errorf("not JSON: %w", err)
}

// jsonKind is the JSON type that a Go type is read from.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Int64, reflect.Int:
		return "a whole number"
	default:
		return "an object"
	}
}

// objectProblem is jsonProblem of a line of JSONL, with the usual reason for a
// line that is no object.
func objectProblem(line []byte, err error) error {
	err = jsonProblem(err)
	if bytes.HasPrefix(line, []byte("[")) || string(line) == "{" {
		return fmt.Errorf("%w; every line must be one whole JSON object", err)
	}
	return err
}

// problem decodes the tests and checks the rest of a record. Errors name the
// problem and the field.
func (r *record) problem() (Problem, error) {
	p := Problem{
		ID: r.ID, Title: r.Title, Statement: r.Statement, Platform: r.Platform,
		ContestID: r.ContestID, ContestDate: r.date, Difficulty: r.Difficulty,
		StarterCode: r.StarterCode, Checker: r.Checker,
	}
	if err := r.fill(&p); err != nil {
		return Problem{}, fmt.Errorf("%s: %w", r.ID, err)
	}
	return p, nil
}

func (r *record) fill(p *Problem) error {
	var err error
	if p.Method, err = methodOf(r.Metadata); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	public, err := parseTests(r.Public, p.Method)
	if err != nil {
		return fmt.Errorf("public_test_cases: %w", err)
	}
	private, err := privateTests(r.Private, p.Method)
	if err != nil {
		return fmt.Errorf("private_test_cases: %w", err)
	}
	p.Public, p.Tests = len(public), append(public, private...)
	if r.Checker != nil {
		if err := r.Checker.Validate(); err != nil {
			return fmt.Errorf("checker: %w", err)
		}
	}
	if p.Limits, err = r.Limits.jobLimits(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	return nil
}

func methodOf(metadata embedded) (string, error) {
	if metadata.empty() {
		return "", nil
	}
	var m struct {
		Method string `json:"func_name"`
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return "", jsonProblem(err)
	}
	if m.Method != "" && !identifier.MatchString(m.Method) {
		return "", fmt.Errorf("func_name: %q is no name of a Python method", m.Method)
	}
	return m.Method, nil
}

// identifier is a name in Python.
var identifier = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

func (l *limits) jobLimits() (sandbox.Limits, error) {
	if l == nil {
		return sandbox.Limits{}, nil
	}
	if !(l.Seconds >= 0 && l.Seconds <= 3600) {
		return sandbox.Limits{}, fmt.Errorf("seconds: %g is not between 0 and 3600", l.Seconds)
	}
	const most = 1 << 20 // a terabyte
	if l.MemoryMB < 0 || l.MemoryMB > most {
		return sandbox.Limits{}, fmt.Errorf("memory_mb: %d is not between 0 and %d", l.MemoryMB, most)
	}
	if l.OutputMB < 0 || l.OutputMB > most {
		return sandbox.Limits{}, fmt.Errorf("output_mb: %d is not between 0 and %d", l.OutputMB, most)
	}
	return sandbox.Limits{
		CPU:    time.Duration(l.Seconds * float64(time.Second)),
		Memory: l.MemoryMB << 20,
		Output: l.OutputMB << 20,
	}, nil
}
