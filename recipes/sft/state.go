package sft

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/coderl/cr/recipes/examples"
)

// stateFile stands in each checkpoint, beside the model.
const stateFile = "cr_state.json"

// state is where a run stands. With the settings, the data and the trainer's own
// state it decides everything that follows.
type state struct {
	Step   int   `json:"step"` // updates made
	Tokens int64 `json:"tokens"`
	// Pending is the last update while it is not logged yet: an interruption came
	// between, or the run stopped at a step that a longer one would not validate.
	Pending *update `json:"pending"`

	Loss       exact `json:"loss"`       // of the last step
	Validation exact `json:"validation"` // the last validation loss
	// BestLoss is the lowest validation loss, Stale the validations since.
	BestLoss exact `json:"best_loss"`
	Stale    int   `json:"stale"`
	// Marked is the checkpoint with the lowest validation loss, 0: none yet.
	Marked     int   `json:"marked"`
	MarkedLoss exact `json:"marked_loss"`
}

// update is what one update did.
type update struct {
	Loss       exact `json:"loss"`
	GradNorm   exact `json:"grad_norm"`
	Skipped    bool  `json:"skipped"`
	Tokens     int64 `json:"tokens"`
	LossTokens int64 `json:"loss_tokens"`
}

func newState() state {
	none := exact(math.NaN())
	inf := exact(math.Inf(1))
	return state{Loss: none, Validation: none, BestLoss: inf, MarkedLoss: inf}
}

// logged is the last step that the log has.
func (s state) logged() int {
	if s.Pending != nil {
		return s.Step - 1
	}
	return s.Step
}

// exact is a number that JSON keeps to the bit, what JSON has no number for
// included.
type exact float64

// MarshalJSON writes the shortest text that reads back as the same number.
func (e exact) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatFloat(float64(e), 'g', -1, 64)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *exact) UnmarshalJSON(text []byte) error {
	unquoted, err := strconv.Unquote(string(text))
	if err != nil {
		return fmt.Errorf("want a number as a text, have %.20s", text)
	}
	v, err := strconv.ParseFloat(unquoted, 64)
	*e = exact(v)
	return err
}

// known is the number, nil where there is none.
func (e exact) known() *float64 {
	v := float64(e)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func readState(dir string) (state, error) {
	s := newState()
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return s, fmt.Errorf("resume: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("resume: %s: %w", filepath.Join(dir, stateFile), err)
	}
	return s, nil
}

// write puts the state into a checkpoint that is being made.
func (s state) write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write the run's state: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, stateFile), append(text, '\n'), 0o644)
}

// fingerprint is a hash of examples: of the data, and of all that made token ids
// and loss masks of it.
func fingerprint(all []examples.Example) string {
	h := sha256.New()
	var b []byte
	for i := range all {
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(len(all[i].IDs)))
		for _, id := range all[i].IDs {
			b = binary.LittleEndian.AppendUint32(b, uint32(id))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(all[i].Trained)))
		for _, s := range all[i].Trained {
			b = binary.LittleEndian.AppendUint64(b, uint64(s.From))
			b = binary.LittleEndian.AppendUint64(b, uint64(s.To))
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}
