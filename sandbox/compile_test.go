package sandbox_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

func TestCompiledOnce(t *testing.T) {
	opts := sandbox.LocalOptions{Workers: 2, CacheDir: t.TempDir()}
	l := open(t, opts)
	code := "#include <stdio.h>\nint main(void) { int x; if (scanf(\"%d\", &x) == 1) printf(\"%d\\n\", x + 1); return 0; }\n"
	job := sandbox.Job{Language: "c", Code: code, Stdin: []byte("1")}
	first := trial(t, l, job)
	job.Stdin, job.Files = []byte("2"), map[string][]byte{"data.txt": []byte("x")}
	second := trial(t, l, job)
	if string(first.Stdout) != "2\n" || string(second.Stdout) != "3\n" {
		t.Fatalf("%s; %s", say(&first), say(&second))
	}
	if first.Compile.Wall != second.Compile.Wall {
		t.Error("compiled again for another input")
	}
	other := open(t, opts) // as another process
	if third := trial(t, other, job); third.Compile.Wall != first.Compile.Wall {
		t.Error("compiled again by another process")
	}
	job.Files["twice.h"] = []byte("#define X 1\n")
	if fourth := trial(t, l, job); fourth.Compile.Wall == first.Compile.Wall {
		t.Error("not compiled again although a header came along")
	}
}

func TestCompilersAreJailed(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1, CacheDir: t.TempDir()})
	secret := t.TempDir() + "/secret.h"
	writeFile(t, secret, "int secret = 42;\n")
	for _, row := range []struct {
		name, code string
		want       sandbox.Status // of the compiler
	}{
		{"a file of the host", "#include \"" + secret + "\"\nint main() { return secret; }\n", sandbox.CompileError},
		{"passwords", "#include \"/etc/shadow\"\nint main() {}\n", sandbox.CompileError},
		{"an endless file", "#include \"/dev/zero\"\nint main() {}\n", sandbox.CompileError},
		{"endless messages", strings.Repeat("#warning xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", 20_000) + "int main() { return 0 }\n", sandbox.CompileError},
		{
			"endless work", "constexpr long f(long n) { long s = 0; for (long i = 0; i < 2000000; i++) s += i * n; return s; }\n" +
				"template <long N> struct A { static constexpr long v = f(N) + A<N - 1>::v; };\n" +
				"template <> struct A<0> { static constexpr long v = 0; };\nint main() { return A<800>::v & 1; }\n", sandbox.TimeLimitExceeded,
		},
		{"a huge program", "char big[1L << 33] = {1};\nint main() { return big[5]; }\n", sandbox.CompileError},
	} {
		r := trial(t, l, sandbox.Job{Language: "cpp", Code: row.code, CompileTime: 3 * time.Second})
		if r.Status != sandbox.CompileError || r.Compile == nil || len(r.Stdout) > 0 {
			t.Errorf("%s: %s", row.name, say(&r))
			continue
		}
		// What ends a compiler first is not ours to say where both may.
		if r.Compile.Status != row.want && row.want == sandbox.TimeLimitExceeded {
			t.Errorf("%s: the compiler ended with %s", row.name, r.Compile.Status)
		}
		if len(r.Compile.Stderr) > 100_000 {
			t.Errorf("%s: %d bytes of messages", row.name, len(r.Compile.Stderr))
		}
	}
}

func TestAFailingCompilerIsNoFaultOfOurs(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	r := trial(t, l, sandbox.Job{Language: "c", Code: "int main(void) { return nothing; }\n"})
	if r.Status != sandbox.CompileError || r.Compile.ExitCode != 1 || !strings.Contains(string(r.Compile.Stderr), "nothing") {
		t.Errorf("%s", say(&r))
	}
	_, err := l.Run(t.Context(), sandbox.Job{Language: "c", Code: "x", Call: &sandbox.Call{Method: "f"}})
	if err == nil {
		t.Error("a call of a C function was accepted")
	}
	_, err = l.Run(t.Context(), sandbox.Job{Language: "c", Code: "int main(void) { return 0; }\n", Files: map[string][]byte{"prog": nil}})
	if err == nil {
		t.Error("a file in the program's place was accepted")
	}
}

func TestAbsentToolchainsAreOurShortcoming(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	python := os.Getenv("CR_TEST_PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if _, err := os.Stat(python); err != nil {
		t.Skip(err)
	}
	l := open(t, sandbox.LocalOptions{Workers: 1, Python: python})
	for _, name := range sandbox.Languages() {
		_, err := l.Run(context.Background(), sandbox.Job{Language: name, Code: "x"})
		var missing *sandbox.LanguageError
		switch {
		case name == "python" || name == "pytest": // need no tool of the PATH
		case !errors.As(err, &missing) || missing.Install == "" || !strings.Contains(err.Error(), "not available here: install "+missing.Install):
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := sandbox.Toolchains(python)
	if err != nil || len(all) != len(sandbox.Languages()) {
		t.Fatalf("%d tool chains, %v", len(all), err)
	}
	for _, c := range all[1:] {
		if c.Language != "pytest" && (c.Missing == "" || c.Version != "") {
			t.Errorf("%+v", c)
		}
	}
}

// TestModes tries the ways to run tests that come inside a program.
func TestModes(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	for _, row := range []struct{ language, code, passes, fails string }{
		{"pytest", "def test_a():\n    assert 1 + 1 == N\n", "N = 2\n", "N = 3\n"},
		{
			"go_test", "package main\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif 1+1 != n {\n\t\tt.Fatal(\"x\")\n\t}\n}\n",
			"\nconst n = 2\n", "\nconst n = 3\n",
		},
		{"d_ut", "unittest { assert(1 + 1 == n); }\nvoid main() {}\n", "enum n = 2;\n", "enum n = 3;\n"},
		{"kotlin_script", "check(1 + 1 == n)\n", "val n = 2\n", "val n = 3\n"},
		{"verilog", "module tb; initial begin if (1 + 1 != n) $fatal(1); $finish; end endmodule\n", "localparam n = 2;\n", "localparam n = 3;\n"},
	} {
		t.Run(row.language, func(t *testing.T) {
			limits := sandbox.Limits{CPU: time.Minute}
			for _, n := range []string{row.passes, row.fails} {
				code := n + row.code
				if row.language == "go_test" {
					code = row.code + n
				}
				r := trial(t, l, sandbox.Job{Language: row.language, Code: code, Limits: limits})
				if (r.Status == sandbox.OK) != (n == row.passes) || r.Status == sandbox.CompileError {
					t.Errorf("%s: %s", n, say(&r))
				}
			}
		})
	}
}

func TestFilesComeBack(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	code := py(
		"import os",
		"open('a.txt', 'w').write(open('in/x.txt').read() * 2)",
		"os.symlink('/etc/passwd', 'link')",
		"os.mkfifo('pipe')",
		"os.makedirs('made/deep')",
		"open('made/deep/b', 'wb').write(b'\\0\\xff')",
		"raise SystemExit(3)",
	)
	r := run(t, l, sandbox.Job{
		Code: code, Files: map[string][]byte{"in/x.txt": []byte("ab")},
		Fetch: []string{"a.txt", "absent", "link", "pipe", "made/", "in"},
	})
	if r.ExitCode != 3 || len(r.Files) != 2 || string(r.Files["a.txt"]) != "abab" || string(r.Files["made/deep/b"]) != "\x00\xff" {
		t.Errorf("exit status %d, files %q, stderr %s", r.ExitCode, r.Files, r.Stderr)
	}
	r = run(t, l, sandbox.Job{Code: py("import os, signal", "os.kill(os.getpid(), signal.SIGSEGV)"), Fetch: []string{"a.txt"}})
	if r.Signal != "SIGSEGV" || len(r.Files) != 0 {
		t.Errorf("signal %s, files %q", r.Signal, r.Files)
	}
	if _, err := l.Run(t.Context(), sandbox.Job{Language: "python", Fetch: []string{"../x"}}); err == nil {
		t.Error("a path outside the working directory was accepted")
	}
}
