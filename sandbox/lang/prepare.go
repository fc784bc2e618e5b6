package lang

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// unprepared stands for {prepared} where there is no directory to keep it in: a
// place in the jail where tools can make theirs anew each time.
const unprepared = "/tmp/prepared"

// Prepared returns the directory that the chain's Prepare command has filled,
// running it if nobody has yet; "" for a chain without one. Processes that want
// the same at the same time wait for each other.
func (h *Host) Prepared(ctx context.Context, c *Toolchain) (dir string, err error) {
	if c.Prepare == nil {
		return "", nil
	}
	if h.prepared == "" {
		return unprepared, nil
	}
	sum := sha256.Sum256([]byte(c.Identity() + strings.Join(c.Prepare, " ") + strings.Join(c.Env, " ")))
	dir = filepath.Join(h.prepared, fmt.Sprintf("%s-%x", c.Tools[0], sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("prepare %s: %w", c.Tools[0], err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("prepare %s: lock: %w", c.Tools[0], err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // somebody else did it while we waited
	}
	if err := c.fill(ctx, dir); err != nil {
		return "", fmt.Errorf("prepare %s: %w", c.Tools[0], err)
	}
	return dir, nil
}

// fill runs the Prepare command into a directory that appears when it is done.
func (c *Toolchain) fill(ctx context.Context, dir string) (err error) {
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o755)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	v := Values{Prepared: part}
	argv := c.command(c.Prepare, v)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = part
	cmd.Env = append(cmd.Environ(), c.Environment(v)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.500s", err, out)
	}
	if err := filepath.WalkDir(part, readable); err != nil {
		return err
	}
	return os.Rename(part, dir)
}

// readable lets the jail's users read a file, whatever our umask made of it.
func readable(path string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case entry.IsDir():
		return os.Chmod(path, 0o755)
	default:
		return os.Chmod(path, 0o644)
	}
}
