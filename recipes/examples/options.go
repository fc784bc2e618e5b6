package examples

import (
	"fmt"
	"slices"

	"github.com/coderl/cr/datasets/sft"
)

// Thinking is what happens to the reasoning of a conversation's turns before it
// is rendered.
type Thinking string

// The policies for reasoning.
const (
	// ThinkingKeep gives the template the reasoning as the conversation has it.
	// Which turns show it is the template's rule: Qwen3's shows that of the turns
	// after the last question.
	ThinkingKeep Thinking = "keep"
	// ThinkingStrip takes all reasoning out: reasoning_content, and what stands
	// before the first </think> of a content. What the template writes by itself
	// where there is none, such as an empty block, stays.
	ThinkingStrip Thinking = "strip"
	// ThinkingAll is ThinkingKeep for conversations in which the template shows the
	// reasoning of every turn; others are rows with the reason thinking_lost.
	ThinkingAll Thinking = "all"
)

// TooLong is what happens to an example of more than MaxLength tokens.
type TooLong string

// The policies for examples that are too long.
const (
	TooLongError    TooLong = "error"    // the run does not begin
	TooLongDrop     TooLong = "drop"     // the example is left out
	TooLongTruncate TooLong = "truncate" // its last tokens are left out
)

// Faulty is what happens to rows that are no examples for another reason: no
// conversations, broken tool calls, templates that refuse or mangle them.
type Faulty string

// The policies for faulty rows.
const (
	FaultyError Faulty = "error" // the run does not begin
	FaultyDrop  Faulty = "drop"  // the row is left out
	// FaultyKeep trains rows whose text the template changes as the template gives
	// them, and leaves the others out.
	FaultyKeep Faulty = "keep"
)

// Mask is which tokens of a turn are trained.
type Mask string

// The masks.
const (
	// MaskTurn trains what the model itself is to write: reasoning, content and
	// tool calls as the template shows them, and the token that ends the turn.
	MaskTurn Mask = "turn"
	// MaskVerl trains the white space behind the turn's end too (the newline after
	// <|im_end|>), as verl's dataset does.
	MaskVerl Mask = "verl"
)

// Options say how conversations become examples. The zero value of each policy
// is its first constant.
type Options struct {
	Thinking  Thinking
	TooLong   TooLong
	Faulty    Faulty
	Mask      Mask
	MaxLength int // tokens of an example; 0: no bound
	Columns   sft.Columns
	Threads   int                     // that render; 0: one a core
	Progress  func(done, skipped int) // rows so far; may be nil, is called from one goroutine at a time
}

// withDefaults fills in what was not set.
func (o Options) withDefaults() (Options, error) {
	var err error
	o.Thinking = pick(&err, "thinking", o.Thinking, ThinkingKeep, ThinkingStrip, ThinkingAll)
	o.TooLong = pick(&err, "too long", o.TooLong, TooLongError, TooLongDrop, TooLongTruncate)
	o.Faulty = pick(&err, "faulty", o.Faulty, FaultyError, FaultyDrop, FaultyKeep)
	o.Mask = pick(&err, "mask", o.Mask, MaskTurn, MaskVerl)
	if o.MaxLength < 0 {
		err = fmt.Errorf("a maximum length of %d tokens", o.MaxLength)
	}
	if o.Columns == (sft.Columns{}) {
		o.Columns = sft.DefaultColumns()
	}
	return o, err
}

// pick checks a policy's name; the first of known is the default.
func pick[T ~string](err *error, what string, value T, known ...T) T {
	if value == "" {
		return known[0]
	}
	if !slices.Contains(known, value) {
		*err = fmt.Errorf("%s %q: want one of %q", what, value, known)
	}
	return value
}
