package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// victimEnv makes the test binary a process to be killed.
const victimEnv = "CR_SANDBOX_TEST_VICTIM"

// victim runs endless programs until it is killed.
func victim() {
	l, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for range 2 {
		go l.Run(context.Background(), sandbox.Job{ //nolint:errcheck // never returns
			Language: "python", Limits: sandbox.Limits{CPU: time.Hour},
			Code: "import os\nos.fork()\nos.setsid()\nwhile True: pass\n",
		})
	}
	time.Sleep(500 * time.Millisecond)
	fmt.Println("busy")
	select {}
}

// TestKilledRunLeavesNothing kills a busy process as the out-of-memory killer
// would. What it started must be gone soon after, by the kernel's and the
// janitor's doing.
func TestKilledRunLeavesNothing(t *testing.T) {
	open(t, sandbox.LocalOptions{Workers: 1}) // skips where nothing can be isolated
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "busy\n" {
		t.Fatalf("victim said %q (%v)", line, err)
	}
	tree := descendants(t, cmd.Process.Pid)
	if len(tree) < 4 {
		t.Fatalf("the victim has only %d descendants", len(tree))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its status says that it was killed
	left := func() (found []string) {
		for _, pid := range tree {
			if state(pid) != "" {
				found = append(found, fmt.Sprintf("process %d (%s)", pid, state(pid)))
			}
		}
		return append(found, groupsOf(t, cmd.Process.Pid)...)
	}
	for range 200 {
		if len(left()) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("left behind: %v", left())
}

// descendants lists the processes below pid.
func descendants(t testing.TB, pid int) (found []int) {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid=,ppid=").Output()
	if err != nil {
		t.Skipf("ps is not available: %v", err)
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if _, err := fmt.Sscan(line, &child, &parent); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	for todo := children[pid]; len(todo) > 0; todo = todo[1:] {
		found = append(found, todo[0])
		todo = append(todo, children[todo[0]]...)
	}
	return found
}

// state is a process's name, "" when it has ended.
func state(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || strings.Contains(string(data), "State:\tZ") {
		return ""
	}
	return strings.Fields(string(data))[1]
}
