package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/service"
)

// watchedService is a sandbox service that notes the programs it is sent, and is
// out of order for some of them while it is told so.
type watchedService struct {
	next  http.Handler
	mu    sync.Mutex
	down  string   // requests with this text are answered with 503; "" for none
	plain bool     // be a service that is not cr's own
	seen  []string // bodies of /run_code
}

func (s *watchedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	down, plain := s.down != "" && bytes.Contains(body, []byte(s.down)), s.plain
	if r.URL.Path == "/run_code" {
		s.seen = append(s.seen, string(body))
	}
	s.mu.Unlock()
	switch {
	case down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case plain && r.URL.Path == "/healthz":
		http.NotFound(w, r)
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.next.ServeHTTP(w, r)
	}
}

// set changes how the service is from now on, and forgets what it has seen.
func (s *watchedService) set(down string, plain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.plain, s.seen = down, plain, nil
}

// programs are the requests seen, but for those that only try the service.
func (s *watchedService) programs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.seen), func(body string) bool { return strings.Contains(body, `"probe\n"`) })
}

// startService serves a real sandbox in this process.
func startService(t *testing.T) (*watchedService, string) {
	t.Helper()
	local, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &watchedService{next: service.New(local, service.Config{Workers: 2}).Handler()}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, server.URL
}

// bundledPrograms writes the right and the wrong programs of the shipped problems
// as a file of samples, and returns the verdicts that they deserve, in order.
func bundledPrograms(t *testing.T, file string) []string {
	t.Helper()
	names, err := filepath.Glob("../../datasets/testdata/bundled/b*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	header := regexp.MustCompile(`(?m)^-- .+ ([A-Z]+) --\n`)
	var lines bytes.Buffer
	var verdicts []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bodies := header.Split(string(text), -1)[1:]
		for i, m := range header.FindAllStringSubmatch(string(text), -1) {
			verdicts = append(verdicts, m[1])
			line, err := json.Marshal(map[string]string{"question_id": strings.TrimSuffix(filepath.Base(name), ".txt"), "code": bodies[i]})
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return verdicts
}

// judgeSamples runs the eval of a file of samples and returns its exit code.
func judgeSamples(t *testing.T, dir, out string, more ...string) (code int, stderr string) {
	t.Helper()
	args := append([]string{"eval", "livecodebench", "--samples", "programs.jsonl", "--data", "bundled", "--out", out}, more...)
	cmd := crCommand(t, dir, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), said.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, said.String()
}

// verdictsOf are the verdicts of a run, those of single tests too.
func verdictsOf(t *testing.T, out string) (samples, all []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "samples.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var s struct {
			Verdict string
			Tests   []struct{ Verdict string }
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		samples, all = append(samples, s.Verdict), append(all, s.Verdict)
		for _, test := range s.Tests {
			all = append(all, " "+test.Verdict)
		}
	}
	return samples, all
}

// TestJudgedAtAService judges the shipped problems' right and wrong programs in
// the embedded sandbox, at cr's own service, and at one that knows only
// ScaleBox's API.
func TestJudgedAtAService(t *testing.T) {
	if testing.Short() {
		t.Skip("judges all programs of the shipped problems three times")
	}
	s, url := startService(t)
	dir := t.TempDir()
	want := bundledPrograms(t, filepath.Join(dir, "programs.jsonl"))
	runs := map[string][]string{}
	for _, tt := range []struct {
		out   string
		plain bool
		flags []string
	}{
		{"embedded", false, nil},
		{"own", false, []string{"--sandbox", url}},
		{"foreign", true, []string{"--sandbox", url + "/run_code"}},
	} {
		s.set("", tt.plain)
		if code, stderr := judgeSamples(t, dir, tt.out, tt.flags...); code != exitDone {
			t.Fatalf("%s: exit code %d: %s", tt.out, code, stderr)
		}
		got, all := verdictsOf(t, filepath.Join(dir, tt.out))
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", tt.out, got, want)
		}
		if runs[tt.out] = all; !slices.Equal(all, runs["embedded"]) {
			t.Errorf("%s: tests differ from those of the embedded sandbox", tt.out)
		}
		if n := len(s.programs()); (n > 0) != (tt.flags != nil) {
			t.Errorf("%s: the service saw %d programs", tt.out, n)
		}
	}
}

// TestServiceDown: a service that fails during a run makes infra errors, never
// verdicts, and a resumed run judges those samples again and no others.
func TestServiceDown(t *testing.T) {
	s, url := startService(t)
	dir := t.TempDir()
	const broken = "out of order for this one"
	var lines []string
	for id, code := range map[string]string{
		"b01_sum":     `print(sum(map(int, input().split())))`,
		"b02_reverse": `print(input()[::-1]) # ` + broken,
		"b03_largest": `print('wrong')`,
	} {
		line, err := json.Marshal(map[string]string{"question_id": id, "code": code})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := os.WriteFile(filepath.Join(dir, "programs.jsonl"), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--sandbox", url, "--sandbox-wait", "300ms"}
	if code, stderr := judgeSamples(t, dir, "whole", flags...); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}

	s.set(broken, false)
	code, stderr := judgeSamples(t, dir, "run", flags...)
	if code != exitInfra || !strings.Contains(stderr, "503") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if got, _ := verdictsOf(t, filepath.Join(dir, "run")); !slices.Equal(got, []string{"AC", "infra_error", "WA"}) {
		t.Errorf("got %v", got)
	}

	s.set("", false)
	if code, stderr := judgeSamples(t, dir, "run", append(flags, "--resume")...); code != exitDone {
		t.Errorf("resumed: exit code %d: %s", code, stderr)
	}
	for _, body := range s.programs() {
		if !strings.Contains(body, broken) {
			t.Errorf("judged again: %s", body)
		}
	}
	sameRuns(t, filepath.Join(dir, "whole"), filepath.Join(dir, "run"))

	if code, stderr := judgeSamples(t, dir, "none", "--sandbox", "http://127.0.0.1:1", "--sandbox-wait", "1ms"); code != exitFailed || !strings.Contains(stderr, "connection refused") {
		t.Errorf("nobody there: exit code %d: %s", code, stderr)
	}
	for _, bad := range [][]string{
		{"--sandbox", "nowhere"},
		{"--sandbox", url, "--python", "/usr/bin/python3"},
		{"--sandbox", url, "--unsafe"},
		{"--sandbox-wait", "0s"},
		{"--sandbox-concurrency=-1"},
	} {
		if code, stderr := judgeSamples(t, dir, "bad", bad...); code != exitUsage {
			t.Errorf("%v: exit code %d: %s", bad, code, stderr)
		}
	}
}
