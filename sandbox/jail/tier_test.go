package jail_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/jail/cgroup"
)

func TestMain(m *testing.M) {
	jail.MaybeRunStub()
	if os.Getenv(containerEnv) == "filter" {
		becomeContainer()
	}
	os.Exit(m.Run())
}

// limits are generous, so that only what a row is about ends its program.
var limits = jail.Limits{CPU: 5 * time.Second, Wall: 20 * time.Second, Memory: 512 << 20, Output: 1 << 20, Processes: 32}

// conformance is what every tier must do, the unsafe one included.
var conformance = []struct {
	name, code, stdin string
	limits            jail.Limits
	check             func(o *jail.Outcome) bool
}{
	{"output", "print(int(input()) * 2)\n", "21\n", limits, func(o *jail.Outcome) bool {
		return string(o.Stdout) == "42\n" && o.ExitCode == 0 && o.Memory > 1<<20 && o.CPU > 0
	}},
	{"exit status", "raise SystemExit(3)\n", "", limits, func(o *jail.Outcome) bool { return o.ExitCode == 3 && o.Signal == "" }},
	{"signal", "import os; os.abort()\n", "", limits, func(o *jail.Outcome) bool { return o.Signal == "SIGABRT" }},
	{
		"CPU time", "while True: pass\n", "",
		jail.Limits{CPU: time.Second, Wall: 30 * time.Second, Memory: 512 << 20, Output: 1 << 20, Processes: 32},
		func(o *jail.Outcome) bool { return o.Stop == jail.StopCPU || o.CPU > time.Second },
	},
	{
		"sleep", "import time; time.sleep(60)\n", "",
		jail.Limits{CPU: time.Second, Wall: time.Second, Memory: 512 << 20, Output: 1 << 20, Processes: 32},
		func(o *jail.Outcome) bool { return o.Stop == jail.StopWall },
	},
	{"memory", "b = bytearray(1 << 30)\n", "", limits, func(o *jail.Outcome) bool { return o.OOMKills > 0 || o.Report == jail.ReportMemory }},
	{
		"processes", "import os, time\nn = 0\ntry:\n    while n < 60:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\nexcept OSError: pass\nprint(n < 40)\n", "", limits,
		func(o *jail.Outcome) bool { return string(o.Stdout) == "True\n" },
	},
	{"output limit", "while True: print('x' * 10000)\n", "", limits, func(o *jail.Outcome) bool { return o.Stop == jail.StopOutput }},
	{
		"network", "import socket\ntry: socket.socket()\nexcept OSError: print('refused')\n", "", limits,
		func(o *jail.Outcome) bool { return string(o.Stdout) == "refused\n" },
	},
	{
		"background child", "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)\n", "", limits,
		func(o *jail.Outcome) bool { return o.ExitCode == 0 && o.Wall < 30*time.Second },
	},
	{
		"memory files", "import os\ntry:\n    for f in [os.memfd_create('x') for _ in range(4)]:\n        for _ in range(200): os.write(f, b'x' * (1 << 20))\nexcept OSError: print('refused')\n", "",
		limits, func(o *jail.Outcome) bool { return o.OOMKills > 0 || string(o.Stdout) == "refused\n" },
	},
	{
		"core dumps", "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))\n", "", limits,
		func(o *jail.Outcome) bool { return string(o.Stdout) == "(1, 1)\n" },
	},
	{"left file", "open('left', 'w').write('x')\n", "", limits, func(o *jail.Outcome) bool { return o.ExitCode == 0 }},
	{"no left file", "import os; print(os.listdir('.'))\n", "", limits, func(o *jail.Outcome) bool { return string(o.Stdout) == "['main.py']\n" }},
}

func TestEveryTierConforms(t *testing.T) {
	python, err := jail.FindPython("")
	if err != nil {
		t.Skip(err)
	}
	groups, err := cgroup.Find()
	if err != nil {
		t.Logf("without control groups: %v", err)
	}
	for name, cfg := range map[string]jail.Config{
		"T1": {Tier: jail.T1, Groups: groups}, "T2 as root": {Tier: jail.T2Root},
		"T2": {Tier: jail.T2}, "T3 as root": {Tier: jail.T3}, "unsafe": {Tier: jail.Unsafe},
	} {
		t.Run(name, func(t *testing.T) {
			root := os.Geteuid() == 0
			switch {
			case cfg.Tier == jail.T1 && groups == nil:
				t.Skip("this host lets us make no control group")
			case strings.Contains(name, "root") && !root:
				t.Skip("needs root")
			}
			cfg.Workers, cfg.Python = 1, python
			if cfg.Tier == jail.T3 {
				if cfg.Python, err = jail.FindPython("/usr/bin/python3"); err != nil {
					t.Skip(err)
				}
			}
			pool, err := jail.NewPool(cfg)
			if err != nil {
				t.Skipf("this host cannot: %v", err)
			}
			t.Cleanup(func() {
				if err := pool.Close(); err != nil {
					t.Error(err)
				}
			})
			for _, row := range conformance {
				if row.name == "processes" && root && (cfg.Tier == jail.T2 || cfg.Tier == jail.Unsafe) {
					continue // the kernel counts no processes of root; root gets another tier
				}
				t.Run(row.name, func(t *testing.T) {
					o, err := pool.Run(context.Background(), jail.Job{Code: []byte(row.code), Stdin: []byte(row.stdin), Limits: row.limits})
					if err != nil {
						t.Fatal(err)
					}
					if !row.check(&o) {
						t.Errorf("stop %d report %d exit %d signal %q kills %d CPU %v wall %v memory %d\nstdout %.200q\nstderr %s",
							o.Stop, o.Report, o.ExitCode, o.Signal, o.OOMKills, o.CPU, o.Wall, o.Memory, o.Stdout, o.Stderr)
					}
				})
			}
			if cfg.Tier != jail.Unsafe {
				leavesNothing(t, pool)
			}
		})
	}
}
