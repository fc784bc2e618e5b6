package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// stateFile stands in each checkpoint, beside the model.
const stateFile = "cr_state.json"

// ReadState reads a checkpoint's state into s.
func ReadState(dir string, s any) error {
	path := filepath.Join(dir, stateFile)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return Damaged(path, err)
	}
	return nil
}

// Damaged says that a file of a checkpoint, or a checkpoint, cannot be taken up,
// and what to do instead.
func Damaged(path string, err error) error {
	return fmt.Errorf("resume: %s is %w, go on from an older checkpoint by writing its step into %s: %w", path, ErrDamaged, latestFile, err)
}

// WriteState puts where a run stands into a checkpoint that is being made. With
// the settings, the data and the trainer's own state it must decide everything
// that follows.
func WriteState(dir string, s any) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write the run's state: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, stateFile), append(text, '\n'), 0o644)
}

// Exact is a number that JSON keeps to the bit, what JSON has no number for
// included.
type Exact float64

// MarshalJSON writes the shortest text that reads back as the same number.
func (e Exact) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatFloat(float64(e), 'g', -1, 64)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Exact) UnmarshalJSON(text []byte) error {
	unquoted, err := strconv.Unquote(string(text))
	if err != nil {
		return fmt.Errorf("want a number as a text, have %.20s", text)
	}
	v, err := strconv.ParseFloat(unquoted, 64)
	*e = Exact(v)
	return err
}

// Known is the number, nil where there is none.
func (e Exact) Known() *float64 {
	v := float64(e)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
