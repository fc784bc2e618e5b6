package judge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// testlibJudge is a special judge as testlib makes them: the exit status is what
// the participant's first number says.
const testlibJudge = `
#include <cstdio>
#include <cstdlib>
int main(int argc, char **argv) {
    if (argc != 4) return 3;
    FILE *input = fopen(argv[1], "r"), *output = fopen(argv[2], "r"), *answer = fopen(argv[3], "r");
    int n, code, jury;
    if (!input || !output || !answer || fscanf(input, "%d", &n) != 1 || n != 5) return 3;
    if (fscanf(answer, "%d", &jury) != 1 || jury != 6) return 3;
    if (fscanf(output, "%d", &code) != 1) return 8;
    if (code < 0) abort();
    fprintf(stderr, "code %d\n", code);
    return code;
}
`

func TestTestlibExitStatuses(t *testing.T) {
	j := judge.New(openSandbox(t))
	task := judge.Task{
		Mode:    judge.Tokens,
		Checker: &judge.Checker{Mode: "program", Language: "cpp", Code: testlibJudge, Form: judge.Testlib},
		Tests:   []judge.Test{{Input: "5\n", Output: "6\n"}},
	}
	for _, row := range []struct {
		program string
		want    sandbox.Verdict // "" for a failure of ours
		detail  string
	}{
		{"print(0)", sandbox.AC, ""},
		{"print(1)", sandbox.WA, "special judge: code 1"},
		{"print(2)", sandbox.WA, "special judge: code 2"},
		{"print(3)", "", ""},
		{"print(4)", sandbox.WA, "special judge: code 4"},
		{"print(7)", sandbox.WA, "special judge: code 7"},
		{"print('x')", sandbox.WA, "special judge: unexpected end of file"},
		{"print(75)", sandbox.WA, "special judge: code 75"},
		{"print(9)", "", ""},
		{"print(-1)", "", ""},
	} {
		report, err := j.Judge(t.Context(), row.program, task)
		switch {
		case errors.As(err, new(*sandbox.LanguageError)):
			t.Skip(err)
		case (err != nil) != (row.want == ""):
			t.Errorf("%s: %v, error %v", row.program, report.Verdict, err)
		case err == nil && (report.Verdict != row.want || report.Tests[0].Detail != row.detail):
			t.Errorf("%s: %v", row.program, report)
		}
	}
}

// TestPublishedCheckers compiles and runs special judges that a benchmark of
// competitive programming is published with: every sixteenth, or all when
// CR_TEST_ALL_CHECKERS is set. Their problems' data are not published with them,
// so what they say of ours does not matter; that they say something does.
func TestPublishedCheckers(t *testing.T) {
	codes := checkers(t)
	step := 16
	if os.Getenv("CR_TEST_ALL_CHECKERS") != "" {
		step = 1
	}
	l := openSandbox(t)
	for i := 0; i < len(codes); i += step {
		if slices.Contains(notCPP, codes[i].id) {
			continue
		}
		for pass := range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			r, err := l.Run(ctx, sandbox.Job{
				Language: "cpp", Code: codes[i].text,
				Files: map[string][]byte{
					"stdin.txt": []byte("1\n1\n"), "stdout.txt": []byte("1\n"), "answer.txt": []byte("1 2\n"[:2+2*pass]),
				},
				Limits: sandbox.Limits{CPU: 5 * time.Second},
			})
			cancel()
			if errors.As(err, new(*sandbox.LanguageError)) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Compile.Status != sandbox.OK {
				t.Errorf("checker %d does not compile: %s %s", codes[i].id, r.Compile.Status, r.Compile.Stderr)
				break
			}
			if r.Status != sandbox.OK && r.Status != sandbox.RuntimeError {
				t.Errorf("checker %d, pass %d: %s", codes[i].id, pass, r.Status)
			}
		}
	}
}

type checkerCode struct {
	id   int
	text string
}

// notCPP are the published checkers that no compiler takes, whatever the
// standard: undeclared names, a quotation mark that is never closed.
var notCPP = []int{60155, 60242, 60358, 60523, 60537, 60563, 60604}

// checkers reads the usable special judges.
func checkers(t *testing.T) (codes []checkerCode) {
	t.Helper()
	dir := os.Getenv("CR_TEST_DATA")
	f, err := os.Open(filepath.Join(dir, "checkers", "aethercode_checker.jsonl"))
	if err != nil {
		t.Skipf("needs CR_TEST_DATA with checkers: %v", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			ID      int
			Checker string
			Success bool
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if row.Success && row.Checker != "" {
			codes = append(codes, checkerCode{row.ID, row.Checker})
		}
	}
	if len(codes) != 398 {
		t.Fatalf("%d checkers", len(codes))
	}
	return codes
}
