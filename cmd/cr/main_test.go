package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/coderl/cr/sandbox"
)

// TestMain makes the test binary serve as cr, and as what cr starts it for.
func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	testscript.Main(m, map[string]func(){"cr": main})
}

// TestScripts runs the real binary, a script a command.
func TestScripts(t *testing.T) {
	tiny, err := filepath.Abs("testdata/tiny")
	if err != nil {
		t.Fatal(err)
	}
	fsdp, err := filepath.Abs("../../runtime/weights/testdata/fsdp")
	if err != nil {
		t.Fatal(err)
	}
	datasets, err := filepath.Abs("../../datasets")
	if err != nil {
		t.Fatal(err)
	}
	server, hub := scriptedServer(t), hubServer(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		ContinueOnError:     true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TINY", tiny)
			env.Setenv("SERVER", server)
			env.Setenv("HUB", hub)
			env.Setenv("FSDP", fsdp)
			env.Setenv("DATASETS", datasets)
			env.Setenv("HOME", env.WorkDir)
			// Nothing is isolated from the caller's own settings but by name.
			for _, name := range []string{"CR_MODEL", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "OPENAI_API_KEY", "HF_ENDPOINT", "HF_TOKEN", "HF_TOKEN_PATH", "TRANSFORMERS_OFFLINE"} {
				env.Setenv(name, "")
			}
			env.Setenv("HF_HUB_OFFLINE", "1") // no test reaches the public hub
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "onejson": scriptOneJSON, "field": scriptField, "lines": scriptLines,
		},
	})
}

// scriptExits runs `exits CODE program args…` and checks the exit code. A
// command that failed must have said why in one line.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	stderr := ts.ReadFile("stderr")
	if strings.Contains(stderr, "goroutine ") {
		ts.Fatalf("it panicked")
	}
	said := strings.Count("\n"+stderr, "\ncr: ")
	if failed := code == exitFailed || code == exitUsage; failed && said != 1 {
		ts.Fatalf("%d lines of error, want 1", said)
	} else if failed && !strings.HasPrefix(lastLine(stderr), "cr: ") {
		ts.Fatalf("the error is not one line, or not the last: %q", lastLine(stderr))
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}

// scriptOneJSON checks that stdout, or the file named, is one JSON object and
// nothing else.
func scriptOneJSON(ts *testscript.TestScript, _ bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(fileArg(args))))
	var object map[string]any
	ts.Check(dec.Decode(&object))
	if err := dec.Decode(&object); !errors.Is(err, io.EOF) {
		ts.Fatalf("more than one JSON value: %v", err)
	}
}

func fileArg(args []string) string {
	if len(args) == 0 {
		return "stdout"
	}
	return args[0]
}

// scriptField checks one value of a JSON file: `field FILE a.b.0 WANT`.
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	for step := range strings.SplitSeq(args[1], ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			ts.Check(err)
			if i >= len(v) {
				ts.Fatalf("%s: the list has %d elements", args[1], len(v))
			}
			value = v[i]
		default:
			ts.Fatalf("%s: nothing at %s", args[1], step)
		}
	}
	got := fmt.Sprint(value)
	if list, ok := value.([]any); ok {
		got = fmt.Sprint(len(list), " elements")
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %s", args[1], got)
	}
}

// scriptLines checks a file's number of lines.
func scriptLines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(strings.Count(ts.ReadFile(args[0]), "\n")); got != args[1] {
		ts.Fatalf("%s has %s lines, want %s", args[0], got, args[1])
	}
}

// crCommand is the binary under test, for tests that are no scripts. It works
// in dir, in an empty home.
func crCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("cr")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	return cmd
}
