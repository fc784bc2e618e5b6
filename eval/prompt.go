package eval

import (
	"strings"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
)

// The texts of LiveCodeBench's generic chat prompt; published scores assume
// them to the letter.
const (
	lcbSystem = "You are an expert Python programmer. You will be given a question (problem specification) and will generate a correct Python program that matches the specification and passes all tests."

	lcbWithStarter    = "### Format: You will use the following starter code to write the solution to the problem and enclose your code within delimiters."
	lcbWithoutStarter = "### Format: Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on the sample inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, it reads the inputs, runs the algorithm and writes output to STDOUT."

	lcbPlaceholder = "# YOUR CODE HERE"
	lcbAnswer      = "### Answer: (use the provided format with backticks)\n\n"

	// toolHint is ours: it says what the tool is for and what counts as the
	// answer, which LiveCodeBench's single-turn prompt leaves open.
	toolHint = " You may call the tool " + agent.InterpreterName + " to run Python code as often as you need, for example to test a draft on the sample inputs. When you are done, write the whole program once more in a code block: only your last message is judged."
)

// Opening is the opening of a conversation on p: the data's own, or else
// LiveCodeBench's.
func Opening(p datasets.Problem, tools bool) []chat.Message {
	if len(p.Opening) == 0 {
		return LiveCodeBenchPrompt(p, tools)
	}
	messages := make([]chat.Message, len(p.Opening))
	for i, m := range p.Opening {
		messages[i] = chat.Message{Role: m.Role, Content: m.Content}
	}
	return messages
}

// LiveCodeBenchPrompt is the opening of a conversation on p. With tools, the
// system text also says how they fit in.
func LiveCodeBenchPrompt(p datasets.Problem, tools bool) []chat.Message {
	system := lcbSystem
	if tools {
		system += toolHint
	}
	var user strings.Builder
	user.WriteString("### Question:\n" + p.Statement + "\n\n")
	format, code := lcbWithoutStarter, lcbPlaceholder
	if p.StarterCode != "" {
		format, code = lcbWithStarter, p.StarterCode
	}
	user.WriteString(format + "\n```python\n" + code + "\n```\n\n")
	user.WriteString(lcbAnswer)
	return []chat.Message{{Role: "system", Content: system}, {Role: "user", Content: user.String()}}
}
