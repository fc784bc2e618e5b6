package datasets

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// Hard limits of a samples file.
const (
	maxSamplesFile = 4 << 30
	maxProgram     = 16 << 20 // of one program or answer
	maxSamples     = 4 << 20
)

// Sample is a program, or a model's answer, made elsewhere.
type Sample struct {
	ID    string // question_id or task_id
	Index int    // among the ID's samples, from 0 in the file's order
	Field string // where Text stood: code, solution, code_list or completion
	Text  string // a program; of a completion, the answer that holds it
}

// Samples are the entries of a samples file.
type Samples struct {
	SHA256  string
	Entries []Sample // in the file's order
}

// ByID groups the entries by problem, each group in the file's order.
func (s Samples) ByID() map[string][]Sample {
	groups := map[string][]Sample{}
	for _, sample := range s.Entries {
		groups[sample.ID] = append(groups[sample.ID], sample)
	}
	return groups
}

// LoadSamples reads JSONL or a JSON list of objects with question_id or task_id
// and one of code, solution, code_list, completion (the first of these that is
// there counts). Other fields are passed over. Errors are one line and name the
// file and the entry.
func LoadSamples(ctx context.Context, path string) (s Samples, err error) {
	file, err := os.Open(path)
	if err != nil {
		return Samples{}, fmt.Errorf("samples: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s, err = readSamples(ctx, file)
	if err != nil {
		return Samples{}, fmt.Errorf("samples: %s: %w", path, err)
	}
	return s, nil
}

func readSamples(ctx context.Context, r io.Reader) (Samples, error) {
	sum := sha256.New()
	limited := &io.LimitedReader{R: r, N: maxSamplesFile}
	reader := bufio.NewReaderSize(io.TeeReader(limited, sum), 1<<16)
	c := collector{next: map[string]int{}}
	if mark, _ := reader.Peek(3); string(mark) == "\ufeff" {
		if _, err := reader.Discard(len(mark)); err != nil {
			return Samples{}, err
		}
	}
	first, err := firstByte(reader)
	switch {
	case errors.Is(err, io.EOF):
		return Samples{}, errors.New("the file is empty")
	case err != nil:
		return Samples{}, err
	case first == '[':
		err = c.list(ctx, reader)
	default:
		err = eachLine(ctx, reader, func(_ int, line []byte) error { return c.add(line) })
	}
	if err != nil {
		return Samples{}, err
	}
	if limited.N == 0 {
		return Samples{}, fmt.Errorf("larger than %d GB", maxSamplesFile>>30)
	}
	return Samples{SHA256: hex.EncodeToString(sum.Sum(nil)), Entries: c.samples}, nil
}

// firstByte looks past white space without taking the byte.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

// collector numbers samples per problem.
type collector struct {
	samples []Sample
	next    map[string]int
	entry   int
}

func (c *collector) list(ctx context.Context, r io.Reader) error {
	decoder := json.NewDecoder(r)
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.entry++
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return fmt.Errorf("entry %d: not JSON: %w", c.entry, err)
		}
		if !utf8.Valid(raw) {
			return fmt.Errorf("entry %d: %w", c.entry, errNotUTF8)
		}
		if err := c.add(raw); err != nil {
			return fmt.Errorf("entry %d: %w", c.entry, err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("after entry %d: the list does not end: %w", c.entry, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after entry %d: more text behind the list", c.entry)
	}
	return nil
}

// entryFields are what a samples entry may hold; absent and null are nil.
type entryFields struct {
	QuestionID json.RawMessage `json:"question_id"`
	TaskID     json.RawMessage `json:"task_id"`
	Code       *string         `json:"code"`
	Solution   *string         `json:"solution"`
	CodeList   []*string       `json:"code_list"`
	Completion *string         `json:"completion"`
}

func (c *collector) add(raw []byte) error {
	var e entryFields
	if err := json.Unmarshal(raw, &e); err != nil {
		return objectProblem(raw, err)
	}
	id, err := e.id()
	if err != nil {
		return err
	}
	switch {
	case e.Code != nil:
		return c.keep(id, "code", *e.Code)
	case e.Solution != nil:
		return c.keep(id, "solution", *e.Solution)
	case e.CodeList != nil:
		for _, code := range e.CodeList {
			if code == nil {
				return fmt.Errorf("%s: code_list: null where a program belongs", id)
			}
			if err := c.keep(id, "code_list", *code); err != nil {
				return err
			}
		}
		return nil
	case e.Completion != nil:
		return c.keep(id, "completion", *e.Completion)
	default:
		return fmt.Errorf("%s: none of code, solution, code_list, completion", id)
	}
}

func (c *collector) keep(id, field, text string) error {
	if len(text) > maxProgram {
		return fmt.Errorf("%s: %s: longer than %d MB", id, field, maxProgram>>20)
	}
	if len(c.samples) >= maxSamples {
		return fmt.Errorf("%s: more than %d samples", id, maxSamples)
	}
	c.samples = append(c.samples, Sample{ID: id, Index: c.next[id], Field: field, Text: text})
	c.next[id]++
	return nil
}

// id accepts a number too: MBPP's task ids are numbers.
func (e entryFields) id() (string, error) {
	for _, raw := range []json.RawMessage{e.QuestionID, e.TaskID} {
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			if text == "" {
				continue
			}
			return text, nil
		}
		var number json.Number
		if err := json.Unmarshal(raw, &number); err != nil {
			return "", errors.New("question_id is neither a string nor a number")
		}
		return number.String(), nil
	}
	return "", errors.New("question_id (or task_id) is missing")
}
