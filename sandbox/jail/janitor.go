package jail

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/coderl/cr/sandbox/jail/cgroup"
)

// janitorName is argv[0] of the process that removes what a killed cr leaves.
const janitorName = "cr-sandbox-janitor"

// janitorPatience is how long a janitor waits for dying lanes to free their
// groups.
const janitorPatience = 10 * time.Second

// janitor outlives a cr that is killed and removes its control groups, which
// nothing else would: lanes die with cr, groups do not.
type janitor struct {
	cmd  *exec.Cmd
	pipe *os.File // its closing, by us or by our death, is the signal
}

// startJanitor starts the janitor of a set of groups.
func startJanitor(set string) (*janitor, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start janitor: %w", err)
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{janitorName, set},
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
	if len(os.Args) != 2 {
		return errors.New("janitor: want one argument, the name of a set of groups")
	}
	if _, err := io.Copy(io.Discard, os.NewFile(controlFD, "parent")); err != nil {
		return fmt.Errorf("janitor: %w", err)
	}
	parent, err := cgroup.Find()
	if err != nil {
		return err
	}
	return parent.RemoveSet(os.Args[1], janitorPatience)
}
