package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/coderl/cr/sandbox"
)

// sandboxFlags choose and configure the embedded sandbox.
type sandboxFlags struct {
	Python string `placeholder:"PATH" help:"Interpreter that runs programs (default: the binary behind python3)."`
	Unsafe bool   `help:"Run programs even where this host cannot isolate them. Only for code you trust."`
}

func (f sandboxFlags) open(workers int) (*sandbox.Local, error) {
	if _, err := exec.LookPath(f.Python); f.Python != "" && err != nil {
		return nil, usagef("--python: %w", err)
	}
	return sandbox.NewLocal(sandbox.LocalOptions{Workers: workers, Python: f.Python, Unsafe: f.Unsafe})
}

type sandboxRunCmd struct {
	sandboxFlags `embed:""`

	File     string        `arg:"" type:"existingfile" help:"The program."`
	Language string        `placeholder:"NAME" help:"The program's language (default: by the file's ending, else python)."`
	Stdin    string        `type:"existingfile" placeholder:"FILE" help:"What the program reads (default: nothing)."`
	Timeout  time.Duration `default:"10s" help:"CPU time limit."`
	MaxMem   byteSize      `default:"4G" help:"Memory limit: bytes, or with K, M, G."`
}

// Help is shown below the flags.
func (sandboxRunCmd) Help() string {
	return `Example:
  cr sandbox run program.py --stdin input.txt --timeout 2s --max-mem 512M

The exit code is 0 when the program ran, whatever it did; its own end is in the
result's status.`
}

// Validate is called by Kong after parsing.
func (s *sandboxRunCmd) Validate() error {
	if s.Timeout <= 0 {
		return fmt.Errorf("--timeout %v: want a time above 0, such as 2s", s.Timeout)
	}
	return nil
}

// Run runs the file once.
func (s *sandboxRunCmd) Run(ctx context.Context, c *console) error {
	code, err := os.ReadFile(s.File)
	if err != nil {
		return badInput(err)
	}
	if s.Language == "" {
		s.Language = cmp.Or(sandbox.LanguageOf(s.File), "python")
	}
	var stdin []byte
	if s.Stdin != "" {
		if stdin, err = os.ReadFile(s.Stdin); err != nil {
			return badInput(err)
		}
	}
	executor, err := s.open(1)
	if err != nil {
		return err
	}
	defer executor.Close()
	result, err := executor.Run(ctx, sandbox.Job{
		Language: s.Language, Code: string(code), Stdin: stdin,
		Limits: sandbox.Limits{CPU: s.Timeout, Memory: int64(s.MaxMem)},
	})
	if errors.As(err, new(*sandbox.LanguageError)) {
		return badInput(err)
	}
	if err != nil {
		return fmt.Errorf("sandbox run %s: %w", s.File, err)
	}
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	answer := map[string]any{
		"status": result.Status, "exit_code": result.ExitCode, "signal": result.Signal,
		"stdout": string(result.Stdout), "stderr": string(result.Stderr),
		"cpu_seconds": result.CPU.Seconds(), "wall_seconds": result.Wall.Seconds(), "memory": result.Memory,
		"isolation": executor.Isolation(),
	}
	if step := result.Compile; step != nil {
		answer["compiler"] = map[string]any{
			"status": step.Status, "exit_code": step.ExitCode,
			"stdout": string(step.Stdout), "stderr": string(step.Stderr), "wall_seconds": step.Wall.Seconds(),
		}
	}
	return enc.Encode(answer)
}
