// Package cgroup makes control groups for jail lanes on version 1, version 2
// and hybrid hosts, and reads what a program used.
//
// A [Parent] is found once by trying: it is where this process may create
// groups. Every [Group] holds one lane. Each controller is used where it works,
// so a hybrid host takes memory and pids from version 1 trees.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Parent is where groups can be made: one directory for each controller, which
// under version 2 is the same directory.
type Parent struct {
	memory, pids, cpu string // "" when the controller cannot be used
	unified           bool   // memory is a version 2 directory
}

// Layers names the controllers that work, for reports.
func (p *Parent) Layers() []string {
	version := "cgroup1"
	if p.unified {
		version = "cgroup2"
	}
	var out []string
	for _, c := range [][2]string{{"memory", p.memory}, {"pids", p.pids}, {"cpu", p.cpu}} {
		if c[1] != "" {
			out = append(out, version+":"+c[0])
		}
	}
	return out
}

// Unified says whether the groups are of version 2.
func (p *Parent) Unified() bool { return p.unified }

// Group is one lane's control group.
type Group struct {
	dirs    []string
	unified bool
	memory  string
	pids    string
	cpu     *os.File // cpuacct.usage or cpu.stat, kept open like the others that every job reads
	oom     *os.File // memory.oom_control or memory.events
	peak    *os.File
	usage   *os.File
	limit   int64 // the memory limit now set
	maxPids int
}

// New makes an empty group called name.
func (p *Parent) New(name string) (*Group, error) {
	g := &Group{unified: p.unified}
	for _, dir := range []string{p.memory, p.pids, p.cpu} {
		path := filepath.Join(dir, name)
		if dir == "" || slices.Contains(g.dirs, path) { // version 2 has one for all
			continue
		}
		if err := os.Mkdir(path, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("cgroup: %w", err), g.Close())
		}
		g.dirs = append(g.dirs, path)
	}
	if err := g.open(p, name); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// open finds the group's hot files and rules out swap, which would let a
// program outgrow its limit slowly instead of failing.
func (g *Group) open(p *Parent, name string) (err error) {
	if p.memory != "" {
		g.memory = filepath.Join(p.memory, name)
		swap, events, peak, usage := "memory.swappiness", "memory.oom_control", "memory.max_usage_in_bytes", "memory.usage_in_bytes"
		if g.unified {
			swap, events, peak, usage = "memory.swap.max", "memory.events", "memory.peak", "memory.current"
		}
		if err := write(g.memory, swap, "0"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if g.oom, err = os.Open(filepath.Join(g.memory, events)); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		if g.usage, err = os.Open(filepath.Join(g.memory, usage)); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		// Absent before Linux 5.19 on version 2; the caller then has rusage alone.
		g.peak, err = os.OpenFile(filepath.Join(g.memory, peak), os.O_RDWR, 0)
		if err != nil && !g.unified {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	if p.pids != "" {
		g.pids = filepath.Join(p.pids, name)
	}
	if p.cpu != "" {
		file := "cpuacct.usage"
		if g.unified {
			file = "cpu.stat"
		}
		if g.cpu, err = os.Open(filepath.Join(p.cpu, name, file)); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	return nil
}

// Add moves a process into the group.
func (g *Group) Add(pid int) error {
	for _, dir := range g.dirs {
		if err := write(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// SetMemory limits the group's memory in bytes.
func (g *Group) SetMemory(limit int64) error {
	if g.memory == "" || limit == g.limit {
		return nil
	}
	file := "memory.limit_in_bytes"
	if g.unified {
		file = "memory.max"
	}
	if err := write(g.memory, file, strconv.FormatInt(limit, 10)); err != nil {
		return err
	}
	g.limit = limit
	return nil
}

// SetPids limits the number of processes and threads in the group.
func (g *Group) SetPids(n int) error {
	if g.pids == "" || n == g.maxPids {
		return nil
	}
	if err := write(g.pids, "pids.max", strconv.Itoa(n)); err != nil {
		return err
	}
	g.maxPids = n
	return nil
}

// CPU is the CPU time the group has used since it was made.
func (g *Group) CPU() (time.Duration, error) {
	text, err := readAt(g.cpu)
	if err != nil {
		return 0, err
	}
	if !g.unified {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		return time.Duration(n), err
	}
	return time.Duration(field(text, "usage_usec")) * time.Microsecond, nil
}

// OOMKills counts the processes the kernel killed for want of memory.
func (g *Group) OOMKills() (int64, error) {
	if g.oom == nil {
		return 0, nil
	}
	text, err := readAt(g.oom)
	return field(text, "oom_kill"), err
}

// ResetPeak starts a new measurement of peak memory. Version 2 can do so from
// Linux 6.12 on; false means that Peak covers the group's whole life.
func (g *Group) ResetPeak() bool {
	if g.peak == nil {
		return false
	}
	_, err := g.peak.WriteAt([]byte("0"), 0)
	return err == nil
}

// Peak is the highest memory use in bytes since ResetPeak, 0 if unknown.
func (g *Group) Peak() int64 {
	text, err := readAt(g.peak)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n
}

// Usage is the memory charged to the group now, in bytes.
func (g *Group) Usage() int64 {
	text, err := readAt(g.usage)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n
}

// Close removes the group, whose processes must have been killed. The kernel
// lets go of a group a moment after its last process, hence the patience.
func (g *Group) Close() error {
	for _, f := range []*os.File{g.cpu, g.oom, g.peak, g.usage} {
		if f != nil {
			_ = f.Close() // read-only use
		}
	}
	var failed error
	for _, dir := range g.dirs {
		if err := removeDir(dir); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func removeDir(dir string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || wait > time.Second {
			return fmt.Errorf("cgroup: %w", err)
		}
		time.Sleep(wait)
	}
}

func write(dir, file, value string) error {
	// Not os.WriteFile: a control file is never created or truncated.
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	_, err = f.WriteString(value)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cgroup: write %q: %w", value, err)
	}
	return nil
}

// readAt reads a control file from its start through an open descriptor.
func readAt(f *os.File) (string, error) {
	if f == nil {
		return "", os.ErrNotExist
	}
	buf := make([]byte, 1024) // memory.events and cpu.stat take some 300
	n, err := f.ReadAt(buf, 0)
	if n == 0 && err != nil {
		return "", fmt.Errorf("cgroup: %w", err)
	}
	return string(buf[:n]), nil
}

// field finds "name value" among the lines of a flat keyed file.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == name {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}
