package jail_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/jail/seccomp"
)

// containerEnv marks a test process that is, or is to become, as powerless as
// root in a container started without options.
const containerEnv = "CR_JAIL_TEST_CONTAINER"

// containerCaps are the capabilities that such a root keeps.
const containerCaps = "cap_chown,cap_dac_override,cap_fowner,cap_fsetid,cap_kill,cap_setgid,cap_setuid," +
	"cap_setpcap,cap_net_bind_service,cap_net_raw,cap_sys_chroot,cap_mknod,cap_audit_write,cap_setfcap"

// becomeContainer takes namespaces and mounts away by a system-call filter, the
// sandbox's own, which refuses all that a container's default filter refuses.
func becomeContainer() {
	runtime.LockOSThread()
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	filter, filterErr := seccomp.Filter(seccomp.Allowed{LocalSockets: true, MemoryFiles: true})
	if err == nil && filterErr == nil {
		err = seccomp.Install(filter)
	}
	if err == nil {
		err = os.Setenv(containerEnv, "inside")
	}
	if err == nil {
		err = unix.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Println("cannot become a container:", err, filterErr)
	os.Exit(1)
}

// TestContainerDefaults runs this package's checks of the weakest tier for root
// inside such a process. It is no container: masked paths of /proc and AppArmor
// are not imitated.
func TestContainerDefaults(t *testing.T) {
	if os.Getenv(containerEnv) == "inside" {
		inContainer(t)
		return
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and setpriv")
	}
	caps := "-all,+" + strings.ReplaceAll(strings.ReplaceAll(containerCaps, "cap_", ""), ",", ",+")
	cmd := exec.Command(setpriv, "--bounding-set", caps, "--inh-caps", "-all",
		os.Args[0], "-test.run", "^TestContainerDefaults$", "-test.v")
	cmd.Env = append(os.Environ(), containerEnv+"=filter")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func inContainer(t *testing.T) {
	python, err := jail.FindPython("/usr/bin/python3")
	if err != nil {
		t.Skip(err)
	}
	pool, err := jail.Open(2, python, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}()
	if pool.Tier() != jail.T3 {
		t.Fatalf("tier %s, want T3; layers %v", pool.Tier(), pool.Layers())
	}
	for _, row := range conformance {
		t.Run(row.name, func(t *testing.T) {
			o, err := pool.Run(context.Background(), jail.Job{Code: []byte(row.code), Stdin: []byte(row.stdin), Limits: row.limits})
			if err != nil {
				t.Fatal(err)
			}
			if !row.check(&o) {
				t.Errorf("stop %d report %d exit %d signal %q CPU %v wall %v memory %d\nstdout %.200q\nstderr %s",
					o.Stop, o.Report, o.ExitCode, o.Signal, o.CPU, o.Wall, o.Memory, o.Stdout, o.Stderr)
			}
		})
	}
	for name, code := range map[string]string{
		"/etc/passwd": "open('/etc/passwd')", "/tmp": "open('/tmp/x', 'w')", "/proc/1": "open('/proc/1/cmdline')",
		"list /tmp": "os.listdir('/tmp')", "list /root": "os.listdir('/root')", "kill": "os.kill(os.getppid(), 0)",
		"uid": "os.setuid(0)", "socket": "socket.socket(socket.AF_UNIX)", "change the program": "os.unlink('../lane.py')",
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			code := "import os, socket\ntry:\n    " + code + "\nexcept OSError: print('refused')\n"
			o, err := pool.Run(context.Background(), jail.Job{Code: []byte(code), Limits: limits})
			if err != nil || string(o.Stdout) != "refused\n" {
				t.Errorf("%v %q %s", err, o.Stdout, o.Stderr)
			}
		})
	}
	t.Run("fork bomb", func(t *testing.T) {
		bomb := "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
		l := limits
		l.CPU = time.Second
		o, err := pool.Run(context.Background(), jail.Job{Code: []byte(bomb), Limits: l})
		if err != nil || o.Stop != jail.StopCPU && o.CPU < time.Second {
			t.Errorf("%v, stop %d", err, o.Stop)
		}
	})
}
