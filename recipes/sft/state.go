package sft

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
)

// state is where a run stands. With the settings, the data and the trainer's own
// state it decides everything that follows.
type state struct {
	Step   int   `json:"step"` // updates made
	Tokens int64 `json:"tokens"`
	// Pending is the last update while it is not logged yet: an interruption came
	// between, or the run stopped at a step that a longer one would not validate.
	Pending *update `json:"pending"`

	Loss       checkpoint.Exact `json:"loss"`       // of the last step
	Validation checkpoint.Exact `json:"validation"` // the last validation loss
	// BestLoss is the lowest validation loss, Stale the validations since.
	BestLoss checkpoint.Exact `json:"best_loss"`
	Stale    int              `json:"stale"`
	// Marked is the checkpoint with the lowest validation loss, 0: none yet.
	Marked     int              `json:"marked"`
	MarkedLoss checkpoint.Exact `json:"marked_loss"`
}

// update is what one update did.
type update struct {
	Loss       checkpoint.Exact `json:"loss"`
	GradNorm   checkpoint.Exact `json:"grad_norm"`
	Skipped    bool             `json:"skipped"`
	Tokens     int64            `json:"tokens"`
	LossTokens int64            `json:"loss_tokens"`
}

func newState() state {
	none := checkpoint.Exact(math.NaN())
	inf := checkpoint.Exact(math.Inf(1))
	return state{Loss: none, Validation: none, BestLoss: inf, MarkedLoss: inf}
}

// logged is the last step that the log has.
func (s state) logged() int {
	if s.Pending != nil {
		return s.Step - 1
	}
	return s.Step
}

func readState(dir string) (state, error) {
	s := newState()
	return s, checkpoint.ReadState(dir, &s)
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
