package jail_test

import (
	"os"
	"testing"

	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/jail/cgroup"
)

// TestProgramsRunInEveryTier runs programs that are not Python, and brings files
// back, under every means of isolation that this host allows.
func TestProgramsRunInEveryTier(t *testing.T) {
	groups, err := cgroup.Find()
	if err != nil {
		t.Logf("without control groups: %v", err)
	}
	for name, cfg := range map[string]jail.Config{
		"T1": {Tier: jail.T1, Groups: groups}, "T2 as root": {Tier: jail.T2Root},
		"T2": {Tier: jail.T2}, "T3": {Tier: jail.T3}, "unsafe": {Tier: jail.Unsafe},
	} {
		t.Run(name, func(t *testing.T) {
			path := ""
			if cfg.Tier == jail.T3 {
				path = "/usr/bin/python3" // others may enter its directory
			}
			python, err := jail.FindPython(path)
			if err != nil {
				t.Skip(err)
			}
			root := os.Geteuid() == 0
			if cfg.Tier == jail.T1 && groups == nil || (cfg.Tier == jail.T2Root || cfg.Tier == jail.T3) && !root {
				t.Skip("this host does not allow it")
			}
			if cfg.Tier == jail.T2 && !python.Ctypes {
				t.Skip("the interpreter lacks ctypes")
			}
			cfg.Workers, cfg.Python = 1, python
			pool, err := jail.NewPool(cfg)
			if err != nil {
				t.Skipf("this host does not allow it: %v", err)
			}
			defer func() {
				if err := pool.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, row := range programs {
				t.Run(row.name, func(t *testing.T) {
					job := jail.Job{
						Stdin: []byte("21\n"), Limits: limits, Fetch: row.fetch,
						Files: map[string][]byte{"run": []byte("#!/bin/sh\n" + row.script), "data/x": []byte("abc")},
						Exec:  &jail.Exec{Argv: []string{"./run"}, Env: []string{"WORD=a=b"}, Stack: 64 << 20},
					}
					out, err := pool.Run(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					if !row.check(&out) {
						t.Errorf("exit %d %s, stop %d, stdout %q, stderr %q, files %q", out.ExitCode, out.Signal, out.Stop, out.Stdout, out.Stderr, out.Files)
					}
				})
			}
			_, err = pool.Run(t.Context(), jail.Job{Limits: limits, Exec: &jail.Exec{Argv: []string{"/no/such/tool"}, Stack: 1 << 20}})
			if err == nil {
				t.Error("a tool that is not there gave an outcome of the program's")
			}
		})
	}
}

var programs = []struct {
	name, script string
	fetch        []string
	check        func(o *jail.Outcome) bool
}{
	{"streams and environment", "read n; echo $((n * 2)) $WORD; cat data/x >&2; ulimit -s", nil, func(o *jail.Outcome) bool {
		return string(o.Stdout) == "42 a=b\n65536\n" && string(o.Stderr) == "abc" && o.ExitCode == 0 && o.Report == jail.NoReport
	}},
	{"exit status", "exit 3", nil, func(o *jail.Outcome) bool { return o.ExitCode == 3 && o.Signal == "" }},
	{"signal", "kill -ABRT $$", nil, func(o *jail.Outcome) bool { return o.Signal == "SIGABRT" }},
	{"broken pipe", "(yes; echo $? >&2) | true", nil, func(o *jail.Outcome) bool { return string(o.Stderr) == "141\n" || len(o.Stderr) == 0 }},
	{"files", "mkdir out/d; echo 1 > out/d/a; echo 2 > b; ln -s b c", []string{"out/", "b", "c", "d"}, func(o *jail.Outcome) bool {
		return len(o.Files) == 2 && string(o.Files["out/d/a"]) == "1\n" && string(o.Files["b"]) == "2\n"
	}},
	{"files of a failed program", "echo 2 > b; kill -SEGV $$", []string{"b"}, func(o *jail.Outcome) bool {
		return o.Signal == "SIGSEGV" && string(o.Files["b"]) == "2\n"
	}},
	{"too many files to bring back", "head -c 70000000 /dev/zero > b", []string{"b"}, func(o *jail.Outcome) bool { return o.Stop == jail.StopOutput }},
	{"the killing of the one who fetches", "kill -9 $PPID; exit 0", []string{"b"}, func(o *jail.Outcome) bool { return o.ExitCode != 0 }},
	{"a vanished directory", "rmdir out; exit 4", []string{"out/"}, func(o *jail.Outcome) bool { return o.ExitCode == 4 && len(o.Files) == 0 }},
}
