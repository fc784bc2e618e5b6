package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestGroupCountsAndLimits moves a real process into a real group.
func TestGroupCountsAndLimits(t *testing.T) {
	parent, err := Find()
	if errors.Is(err, ErrNone) {
		t.Skip("this host lets us make no control group")
	}
	if err != nil {
		t.Fatal(err)
	}
	set := Set("test")
	g, err := parent.New(set + "-0")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.SetMemory(64<<20), g.SetPids(20)); err != nil {
		t.Fatal(err)
	}
	// The shell waits for a line, so that it is in the group before it works.
	cmd := exec.Command("sh", "-c", "read x; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; head -c 200000000 /dev/zero | tail")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	g.ResetPeak()
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // tail dies for memory, which is the point
	if cpu, err := g.CPU(); err != nil || cpu < 10*time.Millisecond {
		t.Errorf("CPU time %v, %v", cpu, err)
	}
	if kills, err := g.OOMKills(); err != nil || kills == 0 {
		t.Errorf("%d kills, %v; a process of 200 MB in a group of 64 MB", kills, err)
	}
	if peak := g.Peak(); peak < 32<<20 || peak > 65<<20 {
		t.Errorf("peak %d bytes", peak)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range g.dirs {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there", dir)
		}
	}
}

// TestRemoveSetSparesOthers checks that one pool's janitor leaves another's
// groups alone.
func TestRemoveSetSparesOthers(t *testing.T) {
	parent, err := Find()
	if err != nil {
		t.Skip(err)
	}
	doomed, err := parent.New(Set("doomed") + "-1")
	if err != nil {
		t.Fatal(err)
	}
	spared, err := parent.New(Set("spared") + "-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.RemoveSet(Set("doomed"), time.Second); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(doomed.dirs[0]); !errors.Is(err, os.ErrNotExist) {
		t.Error("the set was not removed")
	}
	if _, err := os.Stat(spared.dirs[0]); err != nil {
		t.Errorf("another set was removed: %v", err)
	}
	if err := errors.Join(doomed.Close(), spared.Close()); err != nil {
		t.Error(err)
	}
}

func TestFieldIsFoundWhole(t *testing.T) {
	text := "oom_kill_disable 0\nunder_oom 1\noom_kill 7\n"
	if got := field(text, "oom_kill"); got != 7 {
		t.Errorf("oom_kill %d, want 7", got)
	}
	if got := field(text, "oom"); got != 0 {
		t.Errorf("a missing field is %d, want 0", got)
	}
}
