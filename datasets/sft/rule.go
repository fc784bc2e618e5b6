package sft

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// rule decides rows of one schema.
type rule struct {
	list      int // definition level of messages when not null
	item      int // of a list that is not empty
	message   int // of a message that is not null
	role      int // leaf column
	content   int // leaf column; below zero: messages have no content
	isText    bool
	calls     int  // first leaf column of tool_calls; below zero: none
	called    int  // definition level at which there is a call
	callsLeaf bool // tool_calls is text or a number
}

func newRule(schema *parquet.Schema) (rule, error) {
	c, err := findConversation(schema)
	if err != nil {
		return rule{}, err
	}
	message := c.message
	r := rule{list: c.list.definition, item: c.item.definition, message: message.definition, content: -1, calls: -1}
	role, ok := message.child("role")
	if !ok || !role.node.Leaf() || role.node.Type().Kind() != parquet.ByteArray {
		return rule{}, fmt.Errorf("%w: messages have no role that is text", ErrSchema)
	}
	r.role = role.leaf
	if content, ok := message.child("content"); ok {
		r.content = content.leaf
		r.isText = content.node.Leaf() && content.node.Type().Kind() == parquet.ByteArray
	}
	if calls, ok := message.child("tool_calls"); ok {
		r.calls, r.called = calls.leaf, calls.definition
		r.callsLeaf = calls.node.Leaf()
		if items, ok := calls.items(); ok {
			r.called = items.definition
		}
	}
	return r, nil
}

// apply says why a row is dropped, "" when it is kept.
func (r rule) apply(row parquet.Row) Reason {
	messages, ok := r.messages(row)
	if !ok {
		return PythonRaises
	}
	var toolCall, toolResult bool
	last := -1
	for i, m := range messages {
		switch m.role {
		case "assistant":
			toolCall = toolCall || m.calls
			last = i
		case "tool":
			toolResult = true
		}
	}
	if last < 0 {
		return NoAssistant
	}
	answer := messages[last].content
	switch {
	case r.content >= 0 && answer == nil:
		return PythonRaises
	case !toolCall:
		return NoToolCall
	case !toolResult:
		return NoToolResult
	case !hasPython(string(answer)):
		return NoFinalPython
	case strings.Contains(string(answer), `\boxed`):
		return Boxed
	}
	return ""
}

// message is what the rule looks at. Content is nil if null or no text.
type message struct {
	role    string
	content []byte
	calls   bool
}

// messages reads a row's messages; false if there is no list, or a null in it.
func (r rule) messages(row parquet.Row) (messages []message, ok bool) {
	roles := column(row, r.role)
	if len(roles) == 0 {
		return nil, false
	}
	if level := roles[0].DefinitionLevel(); level < r.item {
		return nil, level >= r.list // empty, or null
	}
	messages = make([]message, len(roles))
	for i, role := range roles {
		if role.DefinitionLevel() < r.message {
			return nil, false
		}
		messages[i].role = string(role.ByteArray())
	}
	r.readContents(row, messages)
	r.readCalls(row, messages)
	return messages, true
}

func (r rule) readContents(row parquet.Row, messages []message) {
	if r.content < 0 || !r.isText {
		return
	}
	for i, v := range column(row, r.content) {
		if !v.IsNull() && i < len(messages) {
			messages[i].content = v.ByteArray()
		}
	}
}

// readCalls sets whether a message's tool_calls are true to Python: a list that
// is not empty, a struct, a value that is [truthy].
func (r rule) readCalls(row parquet.Row, messages []message) {
	if r.calls < 0 {
		return
	}
	at := -1
	for _, v := range column(row, r.calls) {
		// Levels beyond the list of messages go on with the message's calls.
		if v.RepetitionLevel() > 1 {
			continue
		}
		if at++; at < len(messages) {
			there := v.DefinitionLevel() >= r.called
			if there && r.callsLeaf {
				there = truthy(v)
			}
			messages[at].calls = there
		}
	}
}

// truthy is bool(v): neither null, empty text, zero nor False.
func truthy(v parquet.Value) bool {
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return v.Int32() != 0
	case parquet.Int64:
		return v.Int64() != 0
	case parquet.Float:
		return v.Float() != 0
	case parquet.Double:
		return v.Double() != 0
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return len(v.ByteArray()) > 0
	default:
		return !v.IsNull()
	}
}

// column is a leaf column's values within a row, which lie side by side.
func column(row parquet.Row, leaf int) []parquet.Value {
	start := 0
	for start < len(row) && row[start].Column() != leaf {
		start++
	}
	end := start
	for end < len(row) && row[end].Column() == leaf {
		end++
	}
	return row[start:end]
}

// hasPython is a case-blind search for a python fence with its end.
func hasPython(text string) bool {
	const opening = "```python"
	for {
		i := strings.Index(text, "```")
		if i < 0 || len(text)-i < len(opening) {
			return false
		}
		if strings.EqualFold(text[i:i+len(opening)], opening) {
			return strings.Contains(text[i+len(opening):], "```")
		}
		text = text[i+1:]
	}
}
