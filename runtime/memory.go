package runtime

import (
	"bufio"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// cachePages is the number of pages of the key/value cache: what CacheBytes
// holds, or half of the memory that the weights leave free, and never more than
// a full batch of full contexts can use.
func cachePages(c model.Config, o Options, weightBytes int64) (int, error) {
	budget := o.CacheBytes
	if budget == 0 {
		budget = (FreeMemory() - weightBytes) / 2
	}
	most := int64(pagesFor(c.Context)) * int64(o.MaxBatch)
	pages := min(budget/c.PageBytes(), most)
	if pages < 1 {
		return 0, fmt.Errorf("key/value cache: %d MiB do not hold one page of %d tokens (%d KiB)",
			budget>>20, tensor.PageSize, c.PageBytes()>>10)
	}
	return int(pages), nil
}

// FreeMemory is the host memory, in bytes, that can be used without swapping:
// what the kernel estimates, and what the cgroup's limit leaves, whichever is
// less. It is a cautious guess where the system does not tell.
func FreeMemory() int64 {
	const guess = 2 << 30
	free := memAvailable()
	if free == 0 {
		free = guess
	}
	for _, files := range [...][2]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		if limit := readNumber(files[0]); limit > 0 {
			free = min(free, limit-readNumber(files[1]))
		}
	}
	return free
}

// ProcessMemory is the most memory, in bytes, that this process has held so far,
// as the kernel counts it; where that does not tell, what the Go runtime has taken
// of it.
func ProcessMemory() int64 {
	if most := readKiB("/proc/self/status", "VmHWM:"); most > 0 {
		return most
	}
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.Sys)
}

func memAvailable() int64 { return readKiB("/proc/meminfo", "MemAvailable:") }

// readKiB reads the bytes of a line "NAME: N kB" in a file of the kernel; 0 if
// there is none.
func readKiB(path, name string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if rest, ok := strings.CutPrefix(lines.Text(), name); ok {
			if _, err := fmt.Sscan(rest, &kib); err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// readNumber reads a file that holds one number; 0 if it does not.
func readNumber(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var n int64
	if _, err := fmt.Sscan(string(data), &n); err != nil {
		return 0
	}
	return n
}
