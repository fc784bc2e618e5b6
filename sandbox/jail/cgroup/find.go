package cgroup

import (
	"bufio"
	"crypto/rand"
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

// ErrNone means that this process may create no control group.
var ErrNone = errors.New("cgroup: no writable control group")

// prefix starts the name of every group of ours; the pid of its maker follows.
const prefix = "cr-"

// Find looks for places where groups can be made, by making one. Version 1
// controllers win on a hybrid host, because there version 2 has none.
func Find() (*Parent, error) {
	mounts, err := cgroupMounts()
	if err != nil {
		return nil, err
	}
	own, err := ownGroups()
	if err != nil {
		return nil, err
	}
	p := &Parent{
		memory: usable(mounts["memory"], own["memory"]),
		pids:   usable(mounts["pids"], own["pids"]),
		cpu:    usable(mounts["cpuacct"], own["cpuacct"]),
	}
	if p.memory == "" && mounts[""] != "" {
		if dir := unified(mounts[""], own[""]); dir != "" {
			p = &Parent{memory: dir, pids: dir, cpu: dir, unified: true}
		}
	}
	if p.memory == "" {
		return nil, ErrNone
	}
	for _, dir := range []string{p.memory, p.pids, p.cpu} {
		sweep(dir)
	}
	return p, nil
}

// Set names the groups of one pool of lanes, which are removed together. The
// process id in it tells later processes whether its maker still lives.
func Set(label string) string { return fmt.Sprintf("%s%d-%s", prefix, os.Getpid(), label) }

// usable returns the first of our own group and the mount's root in which a
// child can be made. The own group comes first, so that limits set on us hold.
func usable(mount, own string) string {
	if mount == "" {
		return ""
	}
	for _, dir := range []string{filepath.Join(mount, own), mount} {
		probe := filepath.Join(dir, Set("probe-"+rand.Text()))
		if os.Mkdir(probe, 0o755) == nil {
			if os.Remove(probe) == nil {
				return dir
			}
		}
	}
	return ""
}

// unified prepares our own version 2 group for children with memory and pids
// controllers. A group with processes may not hand controllers down, so the
// processes of our group move to a leaf first.
func unified(mount, own string) string {
	dir := usable(mount, own)
	if dir == "" {
		return ""
	}
	const enable = "+memory +pids" // cpu.stat counts without its controller
	err := write(dir, "cgroup.subtree_control", enable)
	if errors.Is(err, syscall.EBUSY) && moveToLeaf(dir) == nil {
		err = write(dir, "cgroup.subtree_control", enable)
	}
	if err != nil {
		return ""
	}
	return dir
}

// moveToLeaf empties dir's own process list into a child group.
func moveToLeaf(dir string) error {
	leaf := filepath.Join(dir, "cr-self")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cgroup: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	for _, pid := range strings.Fields(string(data)) {
		if err := write(leaf, "cgroup.procs", pid); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// sweep removes the empty groups of processes that died without cleaning up.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // nothing to sweep where nothing can be listed
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		pid, _, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(pid)
		if !ours || err != nil || n == os.Getpid() || syscall.Kill(n, 0) != syscall.ESRCH {
			continue
		}
		_ = os.Remove(filepath.Join(dir, e.Name())) // fails while in use, rightly
	}
}

// RemoveSet removes the groups of a set, as they become free.
func (p *Parent) RemoveSet(set string, patience time.Duration) error {
	until := time.Now().Add(patience)
	for {
		left := 0
		for _, dir := range []string{p.memory, p.pids, p.cpu} {
			names, err := filepath.Glob(filepath.Join(dir, set+"-*"))
			if err != nil {
				return fmt.Errorf("cgroup: %w", err)
			}
			for _, name := range names {
				if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
					left++
				}
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("cgroup: %d groups of %s are still in use", left, set)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// cgroupMounts maps each version 1 controller, and "" for version 2, to its
// mount point.
func cgroupMounts() (map[string]string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	defer f.Close()
	mounts := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		switch right[0] {
		case "cgroup2":
			mounts[""] = left[4]
		case "cgroup":
			for _, option := range strings.Split(right[2], ",") {
				if slices.Contains([]string{"memory", "pids", "cpuacct"}, option) {
					mounts[option] = left[4]
				}
			}
		}
	}
	return mounts, lines.Err()
}

// ownGroups maps each controller to this process's group path.
func ownGroups() (map[string]string, error) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	own := map[string]string{}
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			own[controller] = parts[2]
		}
	}
	return own, nil
}
