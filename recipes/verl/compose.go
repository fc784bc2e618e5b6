package verl

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed compose.py
var composeProgram string

// Compose lets Hydra compose the plan by a Python that has its verl version, and
// returns the whole configuration as YAML. The error says what Hydra refused.
func (p Plan) Compose(ctx context.Context, python string) ([]byte, error) {
	args := []string{"-c", composeProgram, p.Version, p.Config}
	for _, o := range p.Overrides {
		args = append(args, o.String())
	}
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if text := strings.TrimSpace(complaint.String()); errors.As(err, &exit) && text != "" {
			return nil, fmt.Errorf("compose with %s: %s", python, text[strings.LastIndex(text, "\n")+1:])
		}
		return nil, fmt.Errorf("compose with %s: %w", python, err)
	}
	return out.Bytes(), nil
}
