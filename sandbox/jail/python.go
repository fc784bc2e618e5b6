package jail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// oldest is the oldest Python that the lane program runs on.
const oldest = "3.7"

// ErrPython means that the interpreter, not the isolation, is at fault.
var ErrPython = errors.New("the Python interpreter does not work in the sandbox")

// Python is an interpreter that can run in the jail.
type Python struct {
	Path    string   `json:"path"` // the real binary, no launcher script
	Version string   `json:"version"`
	Dirs    []string `json:"dirs"` // installation directories
	Ctypes  bool     `json:"ctypes"`
	Old     bool     `json:"old"` // too old to run lanes

	shown []string // host paths to show besides
}

// probeScript asks an interpreter about itself. Launchers such as pyenv's
// shims start the real one, whose path it then reports.
const probeScript = `
import json, sys, importlib.util
dirs = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
print(json.dumps({"path": sys.executable, "version": sys.version.split()[0],
    "dirs": sorted(dirs), "ctypes": importlib.util.find_spec("_ctypes") is not None,
    "old": sys.version_info < (3, 7)}))
`

// FindPython examines the interpreter at path, or with "" the first usable
// python3 on this host.
func FindPython(path string) (*Python, error) {
	if path != "" {
		return probePython(path)
	}
	candidates := []string{"/usr/local/bin/python3", "/usr/bin/python3"}
	if found, err := exec.LookPath("python3"); err == nil {
		candidates = append([]string{found}, candidates...)
	}
	var failed []error
	for _, c := range candidates {
		python, err := probePython(c)
		if err == nil {
			return python, nil
		}
		failed = append(failed, err)
	}
	return nil, fmt.Errorf("no usable python3 found; install one or name it: %w", errors.Join(failed...))
}

func probePython(path string) (*Python, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-I", "-c", probeScript).Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	var p Python
	if err := json.Unmarshal(bytes.TrimSpace(out), &p); err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	if p.Old {
		return nil, fmt.Errorf("%s is Python %s; the sandbox needs %s or later", path, p.Version, oldest)
	}
	if !filepath.IsAbs(p.Path) {
		return nil, fmt.Errorf("%s does not know its own path", path)
	}
	// A virtual environment's binary is a link into its base, which is shown
	// too; the directory a link passes through must be as well.
	for link := p.Path; ; {
		p.Dirs = append(p.Dirs, filepath.Dir(link))
		to, err := os.Readlink(link)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(link), to)
		}
		link = to
	}
	return &p, nil
}

// systemDirs hold the shared libraries and tools of the host.
var systemDirs = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc/ld.so.cache", "/etc/alternatives",
}

// binds lists the host paths that the jail shows, none inside another.
func (p *Python) binds() []string {
	out := slices.Clone(systemDirs)
	dirs := slices.Concat(p.Dirs, p.shown)
	slices.Sort(dirs)
	for _, dir := range dirs {
		if !slices.ContainsFunc(out, func(b string) bool { return within(dir, b) }) {
			out = append(out, dir)
		}
	}
	return out
}

// mountPoint picks a host directory to build the jail on. The mount is seen by
// the lane alone; it only must not hide what the jail shows.
func (p *Python) mountPoint() string {
	for _, dir := range []string{"/mnt", "/media", "/srv", "/opt", "/home"} {
		info, err := os.Stat(dir)
		hides := slices.ContainsFunc(slices.Concat(p.Dirs, p.shown), func(d string) bool { return within(d, dir) })
		if err == nil && info.IsDir() && !hides {
			return dir
		}
	}
	return "/tmp"
}

// Show makes more host paths visible to programs, such as the directory of a
// compiler. It must be called before lanes start.
func (p *Python) Show(paths ...string) { p.shown = append(p.shown, paths...) }

// private is a directory of the interpreter that other users may not enter, ""
// if there is none.
func (p *Python) private() string {
	for _, dir := range p.Dirs {
		if at := Private(dir); at != "" {
			return at
		}
	}
	return ""
}

// Private is dir or a directory above it that other users may not enter, "" if
// there is none. Where lanes have no root of their own (T3), programs see
// nothing in it.
func Private(dir string) string {
	for at := dir; at != "/"; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.Mode()&0o005 != 0o005 {
			return at
		}
	}
	return ""
}

// within says whether path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
