package agent

import (
	"context"
	"time"

	"github.com/coderl/cr/runtime/chat"
)

// Toolbox is the set of tools a model may call. It is safe for concurrent use.
type Toolbox interface {
	// Tools are the schemas the model sees, in the order it sees them.
	Tools() []chat.Tool
	// Call runs one tool for at most limit. What the model did wrong (an
	// unknown name, arguments that do not fit) is answered in the reply; an
	// error is always ours and never reaches the model.
	Call(ctx context.Context, call chat.ToolCall, limit time.Duration) (ToolReply, error)
}

// ToolReply is a tool's answer to the model.
type ToolReply struct {
	Text string
	// Charge is the time the call takes from the budget of tool time, in whole
	// seconds, so that a rerun on a busier machine ends at the same call.
	Charge time.Duration
}
