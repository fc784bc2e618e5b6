package jail

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/coderl/cr/sandbox/jail/cgroup"
)

// janitorName is argv[0] of the process that removes what a killed cr leaves.
const janitorName = "cr-sandbox-janitor"

// janitorPatience is how long a janitor waits for dying lanes to free their
// groups.
const janitorPatience = 10 * time.Second

// janitor outlives a cr that is killed and removes its control groups, and where
// there are no namespaces the jobs and directories of its lanes, which nothing
// else would: lanes die with cr, those do not.
type janitor struct {
	cmd  *exec.Cmd
	pipe *os.File // its closing, by us or by our death, is the signal
}

// startJanitor starts the janitor of a set of groups, or with a base of uids that
// of lanes without namespaces.
func startJanitor(set string, base int) (*janitor, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start janitor: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{janitorName, set, strconv.Itoa(base)},
		Env:         []string{"GOMAXPROCS=1"},
		ExtraFiles:  []*os.File{r},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // Ctrl-C is not for it
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start janitor: %w", err), w.Close())
	}
	return &janitor{cmd: cmd, pipe: w}, nil
}

// close dismisses the janitor.
func (j *janitor) close() error {
	return errors.Join(j.pipe.Close(), j.cmd.Wait())
}

// runJanitor waits until the process that started it is gone or done.
func runJanitor() error {
	if len(os.Args) != 3 {
		return errors.New("janitor: want two arguments, the name of a set and its uids")
	}
	base, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return fmt.Errorf("janitor: %w", err)
	}
	if _, err := io.Copy(io.Discard, os.NewFile(controlFD, "parent")); err != nil {
		return fmt.Errorf("janitor: %w", err)
	}
	if base >= 0 {
		return sweepLanes(os.Args[1], base)
	}
	parent, err := cgroup.Find()
	if err != nil {
		return err
	}
	return parent.RemoveSet(os.Args[1], janitorPatience)
}

// sweepLanes removes what is left of a pool's lanes without namespaces.
func sweepLanes(set string, base int) error {
	for number := range hostLanes {
		killUID(hostUID(base, number))
		killUID(hostUID(base, number) + 1)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), lanePrefix+set+"-*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
