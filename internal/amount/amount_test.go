package amount

import "testing"

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 tool calls", 1: "1 tool call", 2: "2 tool calls", -1: "-1 tool calls"} {
		if got := Of(n, "tool call"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
