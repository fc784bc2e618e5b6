package rl

import "github.com/coderl/cr/datasets/pyvalue"

// plainRule makes the ground truth of the tests that nearly all rows have, cases
// of strings, in one pass over their text. Whatever else a text may be is left
// to the rules themselves.
type plainRule struct {
	minTests int
	language string
	tests    int    // cases of the row
	inputs   []byte // then the whole ground truth
	outputs  []byte
	name     []byte // fn_name of the first case, as JSON
	passed   []byte // a value that does not count
}

// apply returns false where the rules have to look. The ground truth is valid
// until the next call.
func (r *plainRule) apply(text pyvalue.Plain) (truth []byte, d *drop, ok bool) {
	var language, tests bool
	for ok := text.Next('{'); !text.Last('}'); ok = text.Next(',') {
		key, hasKey := text.Key()
		if !ok || !hasKey || !text.Next(':') {
			return nil, nil, false
		}
		switch {
		case key == "language" && !language:
			var name string
			if name, language = text.Key(); name != r.language {
				return nil, nil, false
			}
		case key == "test_cases" && !tests:
			if tests = r.cases(&text); !tests {
				return nil, nil, false
			}
		default:
			return nil, nil, false
		}
	}
	switch {
	case !language || !tests:
		return nil, nil, false
	case r.tests < r.minTests:
		return nil, fewTests(r.tests), true
	}
	return r.join(), nil, true
}

// cases reads the list of test cases.
func (r *plainRule) cases(text *pyvalue.Plain) bool {
	r.inputs, r.outputs, r.name = append(r.inputs[:0], `{"input": [`...), r.outputs[:0], r.name[:0]
	r.tests = 0
	for ok := text.Next('['); !text.Next(']'); ok = text.Next(',') {
		if !ok || !r.testCase(text, r.tests) {
			return false
		}
		r.tests++
	}
	return true
}

// testCase reads the n-th test case.
func (r *plainRule) testCase(text *pyvalue.Plain, n int) bool {
	if n > 0 {
		r.inputs, r.outputs = append(r.inputs, ", "...), append(r.outputs, ", "...)
	}
	var input, output, name bool
	for ok := text.Next('{'); !text.Next('}'); ok = text.Next(',') {
		key, hasKey := text.Key()
		if !ok || !hasKey || !text.Next(':') {
			return false
		}
		switch {
		case key == "input" && !input:
			r.inputs, input = text.AppendJSON(r.inputs)
			ok = input
		case key == "output" && !output:
			r.outputs, output = text.AppendJSON(r.outputs)
			ok = output
		case key == "fn_name" && n == 0 && !name:
			r.name, name = text.AppendJSON(r.name)
			ok = name
		case key == "input" || key == "output" || key == "fn_name" && n == 0:
			return false // the last of equal keys counts
		default:
			r.passed, ok = text.AppendJSON(r.passed[:0])
		}
		if !ok {
			return false
		}
	}
	return input && output
}

// join puts the ground truth together.
func (r *plainRule) join() []byte {
	b := append(r.inputs, `], "output": [`...)
	b = append(b, r.outputs...)
	b = append(b, `], "fn_name": `...)
	if len(r.name) > 0 {
		b = append(append(b, r.name...), `, "type": "function_call"}`...)
	} else {
		b = append(b, `null, "type": "stdin_stdout"}`...)
	}
	r.inputs = b
	return b
}
