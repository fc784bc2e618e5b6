package reward

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A program that is too late takes its children with it.
func TestLateProgramLeavesNobody(t *testing.T) {
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "reward"), filepath.Join(dir, "child")
	script := "#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\necho $! > " + kept + ".part\nmv " + kept + ".part " + kept + "\nwait\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (program{path: path, limit: 2 * time.Second}).call(t.Context(), nil); err == nil {
		t.Fatal("a program that never replies is taken for one that did")
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 500 { // a moment passes until it is gone
		if ended(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("its child %d goes on", child)
}

// ended tells whether a process is gone, or a zombie that nobody has waited for:
// the first process of some containers never does.
func ended(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
