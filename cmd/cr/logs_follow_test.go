package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// watched is a writer that calls seen when what was written contains a text for
// the first time.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen map[string]func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	for text, call := range w.seen {
		if strings.Contains(w.text.String(), text) {
			delete(w.seen, text)
			call()
		}
	}
	return len(p), nil
}

// TestLogsFollow: each step is printed once when it is logged, what a restart
// trains again is printed again, and Ctrl-C ends with the table and without
// failure.
func TestLogsFollow(t *testing.T) {
	dir := t.TempDir()
	log, table := filepath.Join(dir, "run", "x.log"), filepath.Join(dir, "followed.csv")
	if err := os.Mkdir(filepath.Dir(log), 0o755); err != nil {
		t.Fatal(err)
	}
	add := func(text string) {
		file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := file.WriteString(text); err != nil {
			t.Error(err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	var stderr bytes.Buffer
	out := &watched{seen: map[string]func(){
		"run step 1, reward 0.25\n": func() { add("step:2 - critic/score/mean:0.5\nstep:3 - critic/sc") },
		"run step 2, reward 0.5\n":  func() { add("ore/mean:0.75\nstep:2 - critic/score/mean:1\n") },
		"run step 2, reward 1\n":    interrupt,
	}}
	add("step:1 - critic/score/mean:0.25\n")
	if code := run(ctx, []string{"logs", "--follow", filepath.Dir(log), "-o", table}, out, &stderr); code != exitDone {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
	const want = "run step 1, reward 0.25\nrun step 2, reward 0.5\n"
	if got := out.text.String(); !strings.HasPrefix(got, want) || strings.Count(got, "step 1,") != 1 || strings.Count(got, "reward 0.5\n") != 1 {
		t.Errorf("printed\n%s", got)
	}
	rows, err := os.ReadFile(table)
	if err != nil || string(rows) != "step,critic/score/mean\n1,0.25\n2,1\n3,0.75\n" {
		t.Errorf("the table is %q, %v", rows, err)
	}
}

// TestLogsFollowWaits: a folder that is not there yet is waited for, and who only
// watched until Ctrl-C did nothing wrong.
func TestLogsFollowWaits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	out := &watched{seen: map[string]func(){"later step 1, reward 0.25\n": interrupt}}
	stderr := &watched{seen: map[string]func(){"waiting: ": func() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x.log"), []byte("step:1 - critic/score/mean:0.25\n"), 0o644); err != nil {
			t.Error(err)
		}
	}}}
	if code := run(ctx, []string{"logs", "--follow", dir}, out, stderr); code != exitDone {
		t.Errorf("exit code %d, %s", code, &stderr.text)
	}
	if said := stderr.text.String(); strings.Count(said, "waiting: ") != 1 {
		t.Errorf("said %q", said)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if code := run(gone, []string{"logs", "--follow", dir + "/never"}, out, stderr); code != exitDone {
		t.Errorf("exit code %d of one who only watched", code)
	}
}

// TestClipped: a table is cut to a terminal, and says so.
func TestClipped(t *testing.T) {
	table := "head of the run\na 1\nb 2\nc 3\n"
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{80, 9, table},
		{80, 4, table},
		{80, 3, "head of the run\na 1\n… and 2 more lines; a taller window shows them\n"},
		{6, 0, "head o\n… and \n"},
	} {
		if got := clipped(table, c.width, c.height); got != c.want {
			t.Errorf("%d by %d: %q, want %q", c.width, c.height, got, c.want)
		}
	}
}
