package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
)

// InterpreterName is the name models call the code tool by.
const InterpreterName = "code_interpreter"

// interpreterSchema is the tool as the ScaleBox recipe declares it: the name,
// the sentence and the parameters are those models were trained on.
const interpreterSchema = `{"type": "function", "function": {"name": "code_interpreter", "description": "Execute code in the sandbox.", "parameters": {"type": "object", "properties": {"code": {"type": "string", "description": "The program to run."}, "language": {"type": "string", "description": "The programming language, python by default."}, "timeout": {"type": "integer", "description": "Time limit in seconds."}}, "required": ["code"]}}}`

// Interpreter is the tool code_interpreter(code, language, timeout) over a
// sandbox. Its reply shows stdout, stderr and how the program ended, and
// nothing that differs between two runs of the same program: no durations, no
// addresses of ours.
type Interpreter struct {
	Executor sandbox.Executor
	Limits   sandbox.Limits // memory, output, processes; CPU comes with each call
}

var _ Toolbox = Interpreter{}

// Tools returns the interpreter's schema.
func (Interpreter) Tools() []chat.Tool { return []chat.Tool{chat.Tool(interpreterSchema)} }

// Call runs the code of one call. A timeout that the model asks for counts up
// to limit.
func (in Interpreter) Call(ctx context.Context, call chat.ToolCall, limit time.Duration) (ToolReply, error) {
	if call.Name != InterpreterName {
		return ToolReply{Text: fmt.Sprintf("Error: there is no tool named %q; the only tool is %s.", call.Name, InterpreterName)}, nil
	}
	args, err := parseInterpreterArgs(call.Arguments)
	if err != nil {
		return ToolReply{Text: "Error: " + err.Error() + "; nothing was run."}, nil
	}
	if args.timeout > 0 {
		limit = min(limit, args.timeout)
	}
	job := sandbox.Job{Language: "python", Code: args.code, Prelude: true, Limits: in.Limits}
	job.Limits.CPU = limit
	res, err := in.Executor.Run(ctx, job)
	if err != nil {
		return ToolReply{}, fmt.Errorf("%s: %w", InterpreterName, err)
	}
	charge := res.CPU.Truncate(time.Second)
	if res.Status == sandbox.TimeLimitExceeded {
		charge = limit
	}
	return ToolReply{Text: describeRun(res, limit), Charge: charge}, nil
}

type interpreterArgs struct {
	code    string
	timeout time.Duration // 0: not given
}

// parseInterpreterArgs reads a call's arguments. Its errors are worded for the
// model. An object inside a JSON string is read too: several models encode
// their arguments twice.
func parseInterpreterArgs(raw json.RawMessage) (interpreterArgs, error) {
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		raw = json.RawMessage(inner)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return interpreterArgs{}, fmt.Errorf("arguments must be a JSON object with the string %q", "code")
	}
	var args interpreterArgs
	if err := json.Unmarshal(fields["code"], &args.code); err != nil || strings.TrimSpace(args.code) == "" {
		return interpreterArgs{}, fmt.Errorf("argument %q must be a string with the program", "code")
	}
	if err := checkLanguage(fields["language"]); err != nil {
		return interpreterArgs{}, err
	}
	seconds, err := parseSeconds(fields["timeout"])
	args.timeout = seconds
	return args, err
}

func checkLanguage(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return fmt.Errorf("argument %q must be a string", "language")
	}
	if slices.Contains([]string{"", "python", "py", "python3"}, strings.ToLower(strings.TrimSpace(name))) {
		return nil
	}
	return fmt.Errorf("language %q cannot be run here; use python", name)
}

// parseSeconds reads a timeout: a number, or a number in a string.
func parseSeconds(raw json.RawMessage) (time.Duration, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(seconds > 0) { // the negation also refuses NaN
		return 0, fmt.Errorf("argument %q must be a positive number of seconds", "timeout")
	}
	const longest = 24 * time.Hour // keeps the product within a Duration
	if seconds >= longest.Seconds() {
		return longest, nil
	}
	// A limit below a second would make start-up time decide.
	return max(time.Duration(seconds*float64(time.Second)), time.Second), nil
}

// describeRun renders a result for the model.
func describeRun(res sandbox.Result, limit time.Duration) string {
	var b strings.Builder
	section(&b, "stdout", res.Stdout)
	section(&b, "stderr", res.Stderr)
	if b.Len() == 0 {
		b.WriteString("no output\n")
	}
	switch {
	case res.Status == sandbox.TimeLimitExceeded:
		fmt.Fprintf(&b, "killed: time limit of %s s exceeded", strconv.FormatFloat(limit.Seconds(), 'f', -1, 64))
	case res.Status == sandbox.MemoryLimitExceeded:
		b.WriteString("killed: memory limit exceeded")
	case res.Status == sandbox.OutputLimitExceeded:
		b.WriteString("killed: output limit exceeded")
	case res.Signal != "":
		b.WriteString("killed by signal " + res.Signal)
	default:
		fmt.Fprintf(&b, "exit status: %d", res.ExitCode)
	}
	return b.String()
}

func section(b *strings.Builder, name string, content []byte) {
	if len(content) == 0 {
		return
	}
	text := strings.TrimRight(strings.ToValidUTF8(string(content), "\uFFFD"), "\n")
	fmt.Fprintf(b, "%s:\n%s\n", name, text)
}
