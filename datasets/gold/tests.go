package gold

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coderl/cr/datasets/pyvalue"
	"github.com/coderl/cr/sandbox/judge"
)

// taskOf reads a ground truth as the data has it: input and output side by side,
// fn_name for calls. A call's input is its list of arguments, its output a list
// that holds the one value, as ScaleBox takes them.
func taskOf(groundTruth []byte) (judge.Task, error) {
	truth, err := pyvalue.ParseJSON(string(groundTruth))
	if err != nil {
		return judge.Task{}, err
	}
	inputs, _ := truth.Get("input")
	outputs, _ := truth.Get("output")
	if len(inputs.Items) != len(outputs.Items) {
		return judge.Task{}, fmt.Errorf("%d inputs, %d outputs", len(inputs.Items), len(outputs.Items))
	}
	task := judge.Task{}
	read := plainTest
	if kind, _ := truth.Get("type"); kind.IsStr("function_call") {
		name, _ := truth.Get("fn_name")
		if name.Kind != pyvalue.Str || name.Text == "" {
			return task, errors.New("fn_name is no text")
		}
		task.Method, read = name.Text, callTest
	}
	for i := range inputs.Items {
		test, err := read(inputs.Items[i], outputs.Items[i])
		if err != nil {
			return task, fmt.Errorf("test case %d: %w", i+1, err)
		}
		task.Tests = append(task.Tests, test)
	}
	return task, nil
}

func plainTest(input, output pyvalue.Value) (judge.Test, error) {
	if input.Kind != pyvalue.Str || output.Kind != pyvalue.Str {
		return judge.Test{}, fmt.Errorf("input and output of a program are text, not %s and %s", input.Kind, output.Kind)
	}
	return judge.Test{Input: input.Text, Output: output.Text}, nil
}

func callTest(input, output pyvalue.Value) (judge.Test, error) {
	if input.Kind != pyvalue.List {
		return judge.Test{}, fmt.Errorf("a call's input is a list of arguments, not a %s", input.Kind)
	}
	if output.Kind != pyvalue.List || len(output.Items) == 0 {
		return judge.Test{}, errors.New("a call's output is a list that holds its value")
	}
	args := make([]string, len(input.Items))
	for i, arg := range input.Items {
		text, err := pyvalue.AppendJSON(nil, arg)
		if err != nil {
			return judge.Test{}, err
		}
		args[i] = string(text)
	}
	want, err := pyvalue.AppendJSON(nil, output.Items[0])
	return judge.Test{Input: strings.Join(args, "\n"), Output: string(want)}, err
}
