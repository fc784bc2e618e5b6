package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/coderl/cr/sandbox"
)

// errUnwell ends a doctor's visit that found no way to run programs.
var errUnwell = errors.New("this host cannot run programs of others; the remedy is above")

type doctorCmd struct {
	sandboxFlags `embed:""`
}

// Help is shown below the flags.
func (doctorCmd) Help() string {
	return `Example:
  cr doctor --python /usr/bin/python3

It says what this host can do, and what to do about what it cannot. The exit code
is 1 when programs cannot be kept apart from the host.`
}

// diagnosis is the result of a visit.
type diagnosis struct {
	Isolation  sandbox.Isolation   `json:"isolation"`
	Fault      string              `json:"fault"` // why there is no isolation; "" if there is
	Layers     []layerState        `json:"layers"`
	Toolchains []sandbox.Toolchain `json:"toolchains"`
}

// layerState is one layer of the sandbox.
type layerState struct {
	Layer  string `json:"layer"`
	OK     bool   `json:"ok"`
	Remedy string `json:"remedy"` // "" if it holds
}

// wantedLayers are the layers of the strongest tier; each is proven by one of the
// beginnings of what the sandbox reports.
var wantedLayers = [...]struct {
	name   string
	proof  []string
	remedy string
}{
	{"system-call filter", []string{"seccomp"}, "needs Linux with seccomp on x86-64 or arm64"},
	{"no new privileges, rlimits", []string{"no_new_privs"}, "needs Linux"},
	{"namespaces, own root", []string{"mount"}, namespaceRemedy},
	{"a uid for each program", []string{"unique uid"}, "run cr as root; " + namespaceRemedy},
	{"memory of the whole program", []string{"cgroup1:memory", "cgroup2:memory"}, groupRemedy},
	{"processes of the program", []string{"cgroup1:pids", "cgroup2:pids"}, groupRemedy},
	{"CPU time of the whole program", []string{"cgroup1:cpu", "cgroup2:cpu"}, groupRemedy},
}

const (
	namespaceRemedy = "Docker: --cap-add SYS_ADMIN --security-opt seccomp=unconfined " +
		"--security-opt apparmor=unconfined --security-opt systempaths=unconfined; " +
		"an ordinary user on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	groupRemedy = "run cr as root where it may make control groups; " +
		"Docker: --cap-add SYS_ADMIN --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:rw"
)

// Run looks at the host and prints what it found.
func (d *doctorCmd) Run(ctx context.Context, c *console) error {
	c.note("doctor: building a sandbox and asking each tool chain for its version; some seconds")
	found, err := d.examine()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err() // the signal reached the tool chains too: their answers are not to be shown
	}
	if err := c.result(found, found.print); err != nil {
		return err
	}
	if found.Fault != "" {
		return errUnwell
	}
	return nil
}

func (d *doctorCmd) examine() (*diagnosis, error) {
	var found diagnosis
	executor, err := d.open(1)
	switch {
	case errors.Is(err, sandbox.ErrNoIsolation):
		found.Fault = err.Error()
	case err != nil:
		return nil, err
	default:
		found.Isolation = executor.Isolation()
		if err := executor.Close(); err != nil {
			return nil, err
		}
	}
	for _, wanted := range wantedLayers {
		state := layerState{Layer: wanted.name, Remedy: wanted.remedy}
		state.OK = slices.ContainsFunc(found.Isolation.Layers, func(layer string) bool {
			return slices.ContainsFunc(wanted.proof, func(p string) bool { return strings.HasPrefix(layer, p) })
		})
		if state.OK {
			state.Remedy = ""
		}
		found.Layers = append(found.Layers, state)
	}
	found.Toolchains, err = sandbox.Toolchains(d.Python)
	return &found, err
}

func (d *diagnosis) print(out io.Writer) error {
	if d.Fault != "" {
		fmt.Fprintf(out, "sandbox: %s\n\n", d.Fault)
	} else {
		fmt.Fprintf(out, "sandbox: tier %s, Python %s\n\n", d.Isolation.Tier, d.Isolation.Interpreter)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "layer\tholds\tremedy")
	for _, l := range d.Layers {
		mark := "yes"
		if !l.OK {
			mark = "NO"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Layer, mark, l.Remedy)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nlanguage\there\tversion, or what to install")
	for _, t := range d.Toolchains {
		mark, text := "yes", t.Version
		if t.Missing != "" {
			mark, text = "no", fmt.Sprintf("install %s (%s)", t.Install, t.Missing)
		} else if !t.Tested {
			mark = "untested"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Language, mark, text)
	}
	return w.Flush()
}
