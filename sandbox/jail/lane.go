package jail

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coderl/cr/sandbox/jail/cgroup"
)

//go:embed lane.py
var jobSource string

//go:embed check.py
var checkSource string

// loadSource is what the interpreter is started with; it loads the lane program.
//
//go:embed load.py
var loadSource string

// laneSource is the lane program. Its second half judges by assertions and
// starts the whole.
var laneSource = []byte(jobSource + checkSource)

// laneReadyTimeout bounds the start of a lane: mounts and the imports of a cold
// interpreter on a busy machine.
const laneReadyTimeout = 60 * time.Second

// lane is one jailed fork server. It runs one job at a time.
type lane struct {
	cmd      *exec.Cmd
	control  *net.UnixConn
	group    *cgroup.Group // nil without control groups
	baseline int64         // memory charged to the idle lane
	jobs     int
	dir      string        // a lane's directory on the host, without namespaces
	uid      int           // of its jobs on the host, without namespaces; 0: none of its own
	exited   chan struct{} // closed once the process has been waited for
	stderr   headTail      // of the lane itself; read after exited is closed
	stopOnce sync.Once
	stopErr  error
}

// startLane starts a lane's process. It must run on a thread that lives as
// long as the lane: the kernel kills the lane when that thread dies.
func (p *Pool) startLane(number int) (*lane, error) {
	tier := p.cfg.Tier
	ours, theirs, err := controlPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	l := &lane{control: ours, exited: make(chan struct{})}
	if tier == T3 {
		l.uid = hostUID(p.base, number)
	}
	l.cmd = &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{stubName},
		Env:         []string{"GOMAXPROCS=1", "GOGC=off"},
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: tier.sysProcAttr(p.base + number),
	}
	l.cmd.Stderr, l.cmd.WaitDelay = &l.stderr, time.Second
	if !tier.namespaced() {
		if l.dir, err = hostDir(p.set); err != nil {
			return nil, errors.Join(err, ours.Close())
		}
	}
	if p.cfg.Groups != nil {
		if l.group, err = p.cfg.Groups.New(fmt.Sprintf("%s-%d", p.set, number)); err != nil {
			return nil, errors.Join(err, ours.Close())
		}
	}
	if err := l.cmd.Start(); err != nil {
		close(l.exited)
		return nil, errors.Join(fmt.Errorf("start lane: %w", err), l.stop())
	}
	go func() {
		_ = l.cmd.Wait() // the status of a lane tells nothing that EOF does not
		close(l.exited)
	}()
	if err := l.configure(tier, p.cfg.Python); err != nil {
		return nil, errors.Join(err, l.stop())
	}
	return l, nil
}

// configure puts the waiting stub into its group and tells it what to build.
func (l *lane) configure(tier Tier, python *Python) error {
	if l.group != nil {
		if err := l.group.Add(l.cmd.Process.Pid); err != nil {
			return err
		}
	}
	msg, err := json.Marshal(tier.layout(python, l.dir, l.uid))
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	if _, err := l.control.Write(msg); err != nil {
		return fmt.Errorf("send layout: %w", err)
	}
	return nil
}

// await waits until the lane serves.
func (l *lane) await() error {
	if err := l.control.SetReadDeadline(time.Now().Add(laneReadyTimeout)); err != nil {
		return fmt.Errorf("await lane: %w", err)
	}
	buf := make([]byte, 4096)
	n, err := l.control.Read(buf)
	if err != nil || n == 0 {
		return errors.Join(l.stop(), fmt.Errorf("%w: %s", ErrPython, bytes.TrimSpace(l.stderr.bytes())))
	}
	var note notice
	if err := json.Unmarshal(buf[:n], &note); err != nil {
		return fmt.Errorf("await lane: %w", err)
	}
	if !note.Ready {
		return fmt.Errorf("build lane: %s", note.Error)
	}
	if l.group != nil {
		l.baseline = l.group.Usage()
	}
	return l.control.SetReadDeadline(time.Time{})
}

// stop kills the lane and everything in it and gives its resources back.
func (l *lane) stop() error {
	l.stopOnce.Do(func() {
		if l.cmd.Process != nil {
			if l.uid != 0 {
				killUID(l.uid)
				killUID(l.uid + 1)
			}
			if l.dir != "" {
				killTree(l.cmd.Process.Pid)
			}
			_ = l.cmd.Process.Kill() // an error means it is dead already
		}
		<-l.exited
		l.stopErr = l.control.Close()
		if l.dir != "" {
			l.stopErr = errors.Join(l.stopErr, os.RemoveAll(l.dir))
		}
		if l.group != nil {
			l.stopErr = errors.Join(l.stopErr, l.group.Close())
		}
	})
	return l.stopErr
}

// controlPair makes the two ends of a control socket, which keeps messages
// apart and can carry descriptors.
func controlPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make control socket: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "lane end")
	file := os.NewFile(uintptr(fds[0]), "control")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make control socket: %w", err), theirs.Close())
	}
	return conn.(*net.UnixConn), theirs, nil
}

// signalName names a signal that killed a process.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s)) // real-time signals have no names
}
