package lang

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// pythonTool stands in the table for the interpreter in use.
const pythonTool = "{python}"

// Toolchain is a chain that this host has.
type Toolchain struct {
	*Chain
	paths   map[string]string // of the tools
	dirs    []string          // outside the system's directories
	version func() (string, error)
}

// Host knows the tool chains of this host. It is safe for concurrent use.
type Host struct {
	python   string
	prepared string // directory of what Prepare commands made
	chains   map[string][]*Toolchain
	dropped  map[string]error // languages with a chain that programs cannot reach, and why
}

// NewHost looks for the tools of all languages. python is the interpreter in
// use; prepared is a directory for what tool chains must make once.
func NewHost(python, prepared string) *Host {
	h := &Host{python: python, prepared: prepared, chains: map[string][]*Toolchain{}, dropped: map[string]error{}}
	for _, l := range Table() {
		for i := range l.Chains {
			if found := h.locate(&l.Chains[i]); found != nil {
				h.chains[l.Name] = append(h.chains[l.Name], found)
			}
		}
	}
	return h
}

// Dirs lists what must be visible to compilers and programs beside the
// system's directories.
func (h *Host) Dirs() []string {
	var dirs []string
	for _, chains := range h.chains {
		for _, c := range chains {
			dirs = append(dirs, c.dirs...)
		}
	}
	if h.prepared != "" {
		dirs = append(dirs, h.prepared)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Drop forgets the tool chains in directories that closed names another one for:
// one that programs cannot enter. It must be called before Find is.
func (h *Host) Drop(closed func(dir string) string) {
	for name, chains := range h.chains {
		h.chains[name] = slices.DeleteFunc(chains, func(c *Toolchain) bool {
			for _, dir := range c.dirs {
				if at := closed(dir); at != "" {
					h.dropped[name] = fmt.Errorf("%s is there, but programs may not enter %s", c.Tools[0], at)
					return true
				}
			}
			return false
		})
	}
	if h.prepared != "" && closed(h.prepared) != "" {
		h.prepared = ""
	}
}

// Find returns the best tool chain of a language that works: that tells its
// version. The error says what is missing.
func (h *Host) Find(l *Language) (*Toolchain, error) {
	err := h.dropped[l.Name]
	if err == nil {
		err = fmt.Errorf("no %s on the PATH", strings.Join(l.Chains[0].Tools, " and "))
	}
	for _, c := range h.chains[l.Name] {
		if _, failed := c.version(); failed != nil {
			err = failed
			continue
		}
		return c, nil
	}
	return nil, err
}

// Version is the first line that the tool says of itself, warnings aside.
func (c *Toolchain) Version() string {
	text, _ := c.version() // Find has seen that it works
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "warning") {
			return line
		}
	}
	return ""
}

// Identity names the very build of the tool chain: its words on its version,
// and the size and date of its tools. Equal sources give equal programs under one
// identity.
func (c *Toolchain) Identity() string {
	text, _ := c.version()
	for _, tool := range c.Tools {
		if info, err := os.Stat(c.paths[tool]); err == nil {
			text += fmt.Sprintf("\n%s %d %d", c.paths[tool], info.Size(), info.ModTime().UnixNano())
		}
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:16])
}

// locate finds a chain's tools; nil if one is missing.
func (h *Host) locate(c *Chain) *Toolchain {
	t := &Toolchain{Chain: c, paths: map[string]string{}}
	for _, tool := range c.Tools {
		path := h.python
		if tool != pythonTool {
			found, err := exec.LookPath(tool)
			if err != nil {
				return nil
			}
			var dirs []string
			if path, dirs = realTool(found, tool, c.Home); path == "" {
				return nil
			}
			t.dirs = append(t.dirs, dirs...)
		}
		t.paths[tool] = path
	}
	for _, pattern := range c.Show {
		found, err := filepath.Glob(pattern)
		if err == nil {
			t.dirs = append(t.dirs, found...)
		}
	}
	t.version = sync.OnceValues(func() (string, error) { return t.ask(c.Version) })
	return t
}

// realTool is the path of a tool as the jail sees it, and the directories to
// show for it. "" means that only a launcher is there.
func realTool(found, tool string, home []string) (path string, dirs []string) {
	real, err := filepath.EvalSymlinks(found)
	if err != nil {
		return "", nil
	}
	if inSystem(found) && inSystem(real) {
		return found, nil
	}
	if len(home) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
		defer cancel()
		out, err := exec.CommandContext(ctx, found, home[1:]...).Output()
		if err != nil {
			return "", nil
		}
		dir := strings.TrimSpace(string(out))
		path = filepath.Join(dir, "bin", tool)
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(dir) {
			return "", nil
		}
		return path, []string{dir}
	}
	return real, []string{installation(real)}
}

// installation is the directory of a program that is not the system's: that
// around its bin/, unless it would lay open somebody's home.
func installation(program string) string {
	bin := filepath.Dir(program)
	around := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" || around == "/" || filepath.Dir(around) == "/home" {
		return bin
	}
	if me, err := user.Current(); err == nil && filepath.Clean(me.HomeDir) == around {
		return bin
	}
	return around
}

// inSystem says whether the jail shows a path anyway.
func inSystem(path string) bool {
	for _, dir := range []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// versionTimeout is long: some compilers start a virtual machine to say it.
const versionTimeout = time.Minute

// ask runs one of the tools, on nothing of anybody's, and returns its words.
func (c *Toolchain) ask(command []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, c.paths[command[0]], command[1:]...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", c.paths[command[0]], strings.Join(command[1:], " "), err)
	}
	return string(out), nil
}
