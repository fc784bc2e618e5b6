package eval

import (
	"strings"
	"testing"

	"github.com/coderl/cr/datasets"
)

func TestLiveCodeBenchPrompt(t *testing.T) {
	functional := LiveCodeBenchPrompt(datasets.Problem{Statement: "Add.", StarterCode: "class Solution:\n    def f(self):"}, false)
	want := "### Question:\nAdd.\n\n### Format: You will use the following starter code to write the solution to the problem and enclose your code within delimiters.\n```python\nclass Solution:\n    def f(self):\n```\n\n### Answer: (use the provided format with backticks)\n\n"
	if functional[1].Content != want {
		t.Errorf("functional prompt %q", functional[1].Content)
	}
	stdin := LiveCodeBenchPrompt(datasets.Problem{Statement: "Add."}, true)
	if !strings.HasSuffix(stdin[1].Content, "writes output to STDOUT.\n```python\n# YOUR CODE HERE\n```\n\n### Answer: (use the provided format with backticks)\n\n") {
		t.Errorf("stdin prompt %q", stdin[1].Content)
	}
	if functional[0].Content != lcbSystem || !strings.HasPrefix(stdin[0].Content, lcbSystem) || !strings.Contains(stdin[0].Content, "code_interpreter") {
		t.Error("the system text names the tool exactly when there is one")
	}
}
