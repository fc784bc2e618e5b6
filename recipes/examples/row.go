package examples

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/runtime/chat"
)

// conversation is a row, read.
type conversation struct {
	messages []chat.Message
	weights  []*bool // loss_mask by message; nil: not given
	tools    []chat.Tool
	thinking *bool
}

// parse reads a row. Messages and tools may be JSON texts within the JSON, as
// some data sets keep them.
func parse(row sft.Row) (c conversation, err error) {
	raw, err := unquoted(row.Messages)
	if err != nil {
		return c, fmt.Errorf("messages: %w", err)
	}
	if len(raw) == 0 {
		return c, errors.New("no messages")
	}
	if raw[0] != '[' {
		return c, errors.New("messages are no list")
	}
	if c.messages, _, err = chat.ParseConversation(raw); err != nil {
		return c, placed(raw, err)
	}
	if c.weights, err = parseWeights(raw); err != nil {
		return c, err
	}
	if c.tools, err = parseTools(row.Tools); err != nil {
		return c, fmt.Errorf("tools: %w", err)
	}
	if len(row.Thinking) > 0 {
		if err := json.Unmarshal(row.Thinking, &c.thinking); err != nil {
			return c, errors.New("enable_thinking is neither true nor false")
		}
	}
	return c, nil
}

// placed names the message that a list of messages cannot be read for.
func placed(raw json.RawMessage, err error) error {
	var each []json.RawMessage
	if json.Unmarshal(raw, &each) != nil {
		return err
	}
	for i, one := range each {
		var msg chat.Message
		if err := json.Unmarshal(one, &msg); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return err
}

// unquoted is the JSON that a JSON string holds; other JSON as it is.
func unquoted(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, errors.New("a text that is not JSON")
	}
	return json.RawMessage(text), nil
}

func parseTools(raw json.RawMessage) ([]chat.Tool, error) {
	raw, err := unquoted(raw)
	if err != nil || len(raw) == 0 || string(raw) == "null" {
		return nil, err
	}
	var tools []chat.Tool
	if err := json.Unmarshal(raw, &tools); err != nil {
		return nil, errors.New("no list of schemas")
	}
	for i, tool := range tools {
		if tools[i], err = unquoted(tool); err != nil {
			return nil, fmt.Errorf("tool %d: %w", i, err)
		}
		if len(tools[i]) == 0 || tools[i][0] != '{' {
			return nil, fmt.Errorf("tool %d is no schema", i)
		}
	}
	return tools, nil
}

// parseWeights reads the messages' loss_mask: 0, 1, false, true or null.
func parseWeights(messages json.RawMessage) ([]*bool, error) {
	var masked []struct {
		Mask json.RawMessage `json:"loss_mask"`
	}
	if err := json.Unmarshal(messages, &masked); err != nil {
		return nil, err
	}
	weights := make([]*bool, len(masked))
	for i, m := range masked {
		switch string(bytes.TrimSuffix(m.Mask, []byte(".0"))) {
		case "", "null":
		case "0", "false":
			weights[i] = new(false)
		case "1", "true":
			weights[i] = new(true)
		default:
			return nil, fmt.Errorf("message %d: loss_mask %s: want 0 or 1", i, m.Mask)
		}
	}
	return weights, nil
}
