package jail

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the unit of times in /proc/PID/stat, fixed by the kernel's ABI.
const clockTick = 10 * time.Millisecond

// treeCPU sums the CPU time of a lane's processes, dead children included,
// where no control group counts it.
func treeCPU(root int) (sum time.Duration) {
	for _, pid := range descendants(root) {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue // ended meanwhile
		}
		// Fields are counted from behind the name, which may hold anything.
		f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		for i := 11; i < 15 && i < len(f); i++ { // utime stime cutime cstime
			n, _ := strconv.ParseInt(f[i], 10, 64)
			sum += time.Duration(n) * clockTick
		}
	}
	return sum
}

// treeDelay sums the time that a lane's living processes waited for a
// processor.
func treeDelay(root int) (sum time.Duration) {
	for _, pid := range descendants(root) {
		sum += taskDelay("/proc/" + strconv.Itoa(pid) + "/task")
	}
	return sum
}

// taskDelay is how long the thread of a process waited that waited longest; dir
// is the process's directory of threads. The process's own schedstat is that of
// its first thread, which in a virtual machine has nothing to do.
func taskDelay(dir string) (longest time.Duration) {
	threads, err := os.ReadDir(dir)
	if err != nil {
		return 0 // ended meanwhile
	}
	for _, thread := range threads {
		data, err := os.ReadFile(dir + "/" + thread.Name() + "/schedstat")
		if err != nil {
			continue
		}
		if f := strings.Fields(string(data)); len(f) == 3 {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			longest = max(longest, time.Duration(n))
		}
	}
	return longest
}

// descendants lists the living processes below root, root left out.
func descendants(root int) (found []int) {
	for todo := []int{root}; len(todo) > 0; {
		pid := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, child := range children(pid) {
			found = append(found, child)
			todo = append(todo, child)
		}
	}
	return found
}

// children lists what the threads of a process have forked.
func children(pid int) (found []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil // ended meanwhile
	}
	for _, thread := range threads {
		data, err := os.ReadFile(dir + "/" + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// treeMemory sums the memory of a lane's processes, where no control group
// counts it. Pages that several share count once.
func treeMemory(root int) (sum int64) {
	for _, pid := range descendants(root) {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
				n, _ := strconv.ParseInt(f[1], 10, 64)
				sum += n << 10
			}
		}
	}
	return sum
}

// killTree kills what runs below root, where no namespace does it. A program
// that forks faster than it is killed escapes the last round, one of the
// reasons why that tier is called unsafe.
func killTree(root int) {
	for range 100 {
		pids := descendants(root)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means it has ended
		}
	}
}
