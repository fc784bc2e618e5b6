package datasets

import (
	"bytes"

	"github.com/coderl/cr/datasets/tinytasks"
)

// The set tiny-practice, which is made when it is asked for.
const (
	practiceName  = "tiny-practice"
	practiceTasks = 2000
	practiceSeed  = 1
)

// practiceLines are the problems that the shipped model is reinforced on, a line
// each: no composition of theirs is in tiny-heldout, nor in its conversations.
func practiceLines() ([]byte, error) {
	maker, err := tinytasks.NewGenerator(tinytasks.RL, practiceSeed)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = tinytasks.WriteJSONL(&b, maker.Tasks(practiceTasks))
	return b.Bytes(), err
}
