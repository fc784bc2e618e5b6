package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/coderl/cr/sandbox"
)

// Finished is a finished run, read from its folder for a comparison.
type Finished struct {
	Path     string
	Results  Results
	settings map[string]json.RawMessage
	scores   map[string]score // by question id
}

// score is one problem's outcome in a run.
type score struct {
	planned, judged, passed int
}

// rate is the share of judged samples that passed.
func (s score) rate() float64 { return float64(s.passed) / float64(s.judged) }

// LoadRun reads the folder of a finished run.
func LoadRun(path string) (Finished, error) {
	f := Finished{Path: path, scores: make(map[string]score)}
	err := readJSON(filepath.Join(path, resultsFile), &f.Results)
	if errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("%s: no finished run (no %s); resume it to its end", path, resultsFile)
	}
	if err != nil {
		return f, err
	}
	var m struct {
		Settings map[string]json.RawMessage `json:"settings"`
	}
	if err := readJSON(filepath.Join(path, runFile), &m); err != nil {
		return f, err
	}
	f.settings = m.Settings
	return f, f.loadScores(filepath.Join(path, samplesFile))
}

func readJSON(path string, value any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (f *Finished) loadScores(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !gjson.ValidBytes(line) {
			return fmt.Errorf("%s: line %d is not JSON", path, n)
		}
		// Three fields are picked out of what may be a conversation of megabytes.
		s := gjson.GetManyBytes(line, "question_id", "verdict", "passed")
		f.count(s[0].String(), sandbox.Verdict(s[1].String()), s[2].Bool())
	}
}

func (f *Finished) count(id string, verdict sandbox.Verdict, passed bool) {
	s := f.scores[id]
	s.planned++
	if scored(verdict) {
		s.judged++
	}
	if passed {
		s.passed++
	}
	f.scores[id] = s
}
