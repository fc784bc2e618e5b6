package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coderl/cr/sandbox/judge"
)

// The kinds of cases.
const (
	stdinStdout  = "stdin_stdout"
	functionCall = "function_call"
	assertions   = "assert"
)

var caseKinds = []string{stdinStdout, functionCall, assertions}

// testCase is one case of an evaluation.
type testCase struct {
	kind   string
	fn     string
	input  raw
	output raw
	test   judge.Test
	// broken says why a call cannot be judged although its request is valid; it
	// fails then, as in ScaleBox.
	broken string
}

// parseCases reads provided_data in any of its forms: columns (test_cases is an
// object), rows (test_cases is a list), or a problem's own test list.
func parseCases(faults *problems, data raw) []testCase {
	loc := []any{"body", "config", "provided_data"}
	if data == "" {
		faults.add("missing", loc, "{}", "Field required")
		return nil
	}
	f, ok := openDict(faults, loc, data)
	if !ok {
		return nil
	}
	if v, ok := f.get("test_cases"); ok {
		if v.kind() == isList {
			return parseRows(faults, f.at("test_cases"), itemsOf(v))
		}
		columns, ok := openDict(faults, f.at("test_cases"), v)
		if !ok {
			return nil
		}
		return parseColumns(columns)
	}
	if _, ok := f.get("test"); ok {
		return parseProblem(f)
	}
	f.required("test_cases")
	return nil
}

// kindOf is a case's type: as written, else by whether a function is named.
func kindOf(f fields) string {
	if v, ok := f.get("type"); ok && v.kind() != isNull {
		return f.choice("type", caseKinds)
	}
	if v, ok := f.get("fn_name"); ok && v.kind() != isNull {
		return functionCall
	}
	return stdinStdout
}

// functionOf is the name of the function that cases of the kind call.
func functionOf(f fields, kind string) string {
	if kind != functionCall {
		return ""
	}
	return f.requiredText("fn_name")
}

func parseColumns(f fields) []testCase {
	kind := kindOf(f)
	if kind == assertions {
		return []testCase{{kind: assertions}}
	}
	fn := functionOf(f, kind)
	f.required("input")
	f.required("output")
	inputs, outputs := f.list("input"), f.list("output")
	if len(inputs) != len(outputs) {
		f.faults.value(f.loc, f.whole, "%d inputs but %d outputs", len(inputs), len(outputs))
		return nil
	}
	jsonInput := f.flag("json_input")
	cases := make([]testCase, len(inputs))
	for i := range inputs {
		in, out := append(f.at("input"), i), append(f.at("output"), i)
		cases[i] = newCase(f.faults, in, out, kind, fn, inputs[i], outputs[i], jsonInput)
	}
	return cases
}

func parseRows(faults *problems, loc []any, rows []raw) []testCase {
	if len(rows) > maxItems {
		faults.value(loc, "[]", "more than %d cases", maxItems)
		return nil
	}
	cases := make([]testCase, 0, len(rows))
	for i, row := range rows {
		f, ok := openDict(faults, append(slices.Clone(loc), i), row)
		if !ok {
			return nil
		}
		kind := kindOf(f)
		if kind == assertions {
			faults.value(f.at("type"), row, "cases of type assert come as one object, not as a list")
			return nil
		}
		fn := functionOf(f, kind)
		input, inOK := f.required("input")
		output, outOK := f.required("output")
		if !inOK || !outOK {
			return nil
		}
		cases = append(cases, newCase(faults, f.at("input"), f.at("output"), kind, fn, input, output, f.flag("json_input")))
	}
	return cases
}

// parseProblem reads {"test": [{"input": {"stdin": …}, "output": {"stdout": …}}]}.
func parseProblem(f fields) []testCase {
	rows := f.list("test")
	cases := make([]testCase, 0, len(rows))
	for i, row := range rows {
		row, ok := openDict(f.faults, append(f.at("test"), i), row)
		if !ok {
			return nil
		}
		in, out := member(row, "input", "stdin"), member(row, "output", "stdout")
		if in == "" || out == "" {
			return nil
		}
		cases = append(cases, newCase(f.faults, append(row.at("input"), "stdin"), append(row.at("output"), "stdout"), stdinStdout, "", in, out, false))
	}
	return cases
}

// member reads outer.inner, "" with a fault when it is not there.
func member(f fields, outer, inner string) raw {
	v, ok := f.required(outer)
	if !ok {
		return ""
	}
	in, ok := openDict(f.faults, f.at(outer), v)
	if !ok {
		return ""
	}
	v, _ = in.required(inner)
	return v
}

func newCase(faults *problems, inLoc, outLoc []any, kind, fn string, input, output raw, jsonInput bool) testCase {
	c := testCase{kind: kind, fn: fn, input: input, output: output}
	if kind == functionCall {
		c.call(faults, inLoc, jsonInput)
		return c
	}
	c.test.Input, _ = textOf(faults, inLoc, input)
	c.test.Output, _ = textOf(faults, outLoc, output)
	return c
}

// call reads a call's arguments and the one value it must return. Arguments are
// a list, or LiveCodeBench's text of one JSON value a line.
func (c *testCase) call(faults *problems, loc []any, jsonInput bool) {
	var args []string
	switch c.input.kind() {
	case isList:
		items := itemsOf(c.input)
		if len(items) > maxItems {
			faults.value(loc, c.input, "more than %d arguments", maxItems)
			return
		}
		for _, arg := range items {
			args = append(args, arg.line())
		}
	case isString:
		lines, err := jsonLines(c.input.text())
		if err != nil {
			faults.value(loc, c.input, "%v", err)
			return
		}
		args = lines
		c.input = raw("[" + strings.Join(lines, ", ") + "]")
		if c.output.kind() == isString {
			c.decodeOutput(jsonInput)
		}
	default:
		faults.add("list_type", loc, c.input, "Input should be a valid list")
		return
	}
	c.test.Input = strings.Join(args, "\n")
	if c.output.kind() != isList {
		c.broken = "the expected output is not a list that holds the one value, such as [3]"
		return
	}
	for value := range c.output.items() {
		c.test.Output = value.line()
		return
	}
	c.broken = "the expected output is an empty list; it holds the one value, such as [3]"
}

// decodeOutput reads an expected value that came as JSON text.
func (c *testCase) decodeOutput(jsonInput bool) {
	value, err := parseJSON(c.output.text())
	switch {
	case err == nil:
		c.output = "[" + value + "]"
	case !jsonInput:
		c.output = "[" + c.output + "]"
	}
}

// jsonLines splits text into JSON values, one a line; blank lines at the end
// count for nothing.
func jsonLines(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	text = strings.TrimRight(text, "\r\n ")
	if strings.Count(text, "\n") >= maxItems {
		return nil, fmt.Errorf("a call has more than %d arguments", maxItems)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		value, err := parseJSON(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of a call's arguments is not a JSON value", i+1)
		}
		lines[i] = string(value)
	}
	return lines, nil
}
