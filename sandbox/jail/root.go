package jail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// lanePath is where the lane program lies inside the jail.
const lanePath = "/run/lane.py"

// scratch are the places inside the jail where programs may write; the first is
// their working directory.
var scratch = [...]string{"/w", "/tmp", "/dev/shm"}

// devices are the device files a program may need.
var devices = [...]string{"null", "zero", "full", "random", "urandom"}

// devLinks are the usual names for a process's own descriptors.
var devLinks = [...][2]string{
	{"/proc/self/fd", "fd"},
	{"/proc/self/fd/0", "stdin"},
	{"/proc/self/fd/1", "stdout"},
	{"/proc/self/fd/2", "stderr"},
}

// etcFiles are the few files that programs read from /etc.
var etcFiles = map[string]string{
	"passwd":        "root:x:0:0:root:/w:/bin/sh\nnobody:x:65534:65534:nobody:/w:/bin/sh\n",
	"group":         "root:x:0:\nnogroup:x:65534:\n",
	"hosts":         "127.0.0.1 localhost\n",
	"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}

// buildRoot makes a new root from a tmpfs and read-only binds, and leaves the
// old one behind.
func buildRoot(l *layout) error {
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	root := l.Mount
	if err := unix.Mount("root", root, "tmpfs", unix.MS_NOSUID, "mode=755,size=4m"); err != nil {
		return fmt.Errorf("mount root: %w", err)
	}
	for _, step := range []func(string, *layout) error{mountProc, makeDev, makeScratch, showBinds, makeEtc} {
		if err := step(root, l); err != nil {
			return err
		}
	}
	return enterRoot(root)
}

// enterRoot makes root the root of this process and forgets the old one.
func enterRoot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return fmt.Errorf("enter new root: %w", err)
	}
	// Stacking the old root on the new needs no directory for it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave old root: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID, ""); err != nil {
		return fmt.Errorf("make root read-only: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	return nil
}

// showBinds comes after the scratch places, since an interpreter may lie in one.
func showBinds(root string, l *layout) error {
	for _, source := range l.Binds {
		if err := show(root, source); err != nil {
			return err
		}
	}
	return nil
}

// show makes a host path visible, read-only, under the same name. A symbolic
// link is copied as a link.
func show(root, source string) error {
	info, err := os.Lstat(source)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("show %s: %w", source, err)
	}
	target := filepath.Join(root, source)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("show %s: %w", source, err)
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(source)
		if err != nil {
			return fmt.Errorf("show %s: %w", source, err)
		}
		return os.Symlink(to, target)
	case info.IsDir():
		err = os.MkdirAll(target, 0o755)
	default:
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return fmt.Errorf("show %s: %w", source, err)
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", source, err)
	}
	return makeReadOnly(target, unix.MOUNT_ATTR_NODEV)
}

// makeReadOnly makes a bind, and what is mounted below it, read-only and deaf
// to setuid bits; nodev, if given, also to device files.
func makeReadOnly(target string, nodev uint64) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | nodev}
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &attr)
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("make %s read-only: %w", target, err)
	}
	// Before Linux 5.12: one mount at a time, and flags that the host has set
	// must be repeated or the kernel refuses.
	var fs unix.Statfs_t
	if err := unix.Statfs(target, &fs); err != nil {
		return fmt.Errorf("read flags of %s: %w", target, err)
	}
	const inherited = unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RELATIME
	flags := uintptr(fs.Flags) & inherited
	flags |= unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID
	if nodev != 0 {
		flags |= unix.MS_NODEV
	}
	if err := unix.Mount("", target, "", flags, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", target, err)
	}
	return nil
}

// mountProc gives the lane a /proc of its own processes. A host that masks its
// own /proc, as containers do, does not allow it; programs then see none.
func mountProc(root string, _ *layout) error {
	target := filepath.Join(root, "proc")
	if err := os.Mkdir(target, 0o755); err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("proc", target, "proc", flags|unix.MS_RDONLY, "hidepid=2")
	if err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

func makeDev(root string, _ *layout) error {
	dev := filepath.Join(root, "dev")
	if err := os.Mkdir(dev, 0o755); err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	for _, name := range devices {
		target := filepath.Join(dev, name)
		if err := os.WriteFile(target, nil, 0o666); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
		if err := unix.Mount("/dev/"+name, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind /dev/%s: %w", name, err)
		}
		// Programs write to devices all the same; they cannot touch the times of
		// the host's files.
		if err := makeReadOnly(target, 0); err != nil {
			return err
		}
	}
	for _, link := range devLinks {
		if err := os.Symlink(link[0], filepath.Join(dev, link[1])); err != nil {
			return fmt.Errorf("link /dev/%s: %w", link[1], err)
		}
	}
	return nil
}

func makeEtc(root string, l *layout) error {
	etc := filepath.Join(root, "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		return fmt.Errorf("make /etc: %w", err)
	}
	for name, text := range etcFiles {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("make /etc/%s: %w", name, err)
		}
	}
	run := filepath.Join(root, lanePath)
	if err := os.MkdirAll(filepath.Dir(run), 0o755); err != nil {
		return fmt.Errorf("make /run: %w", err)
	}
	if err := os.WriteFile(run, l.Lane, 0o644); err != nil {
		return fmt.Errorf("write lane program: %w", err)
	}
	return nil
}

// makeScratch mounts the places where programs may write, each with its own
// limit in bytes and files.
func makeScratch(root string, l *layout) error {
	options := "mode=0777,nr_inodes=16384,size=" + strconv.FormatInt(l.Scratch, 10)
	for _, name := range scratch {
		target := filepath.Join(root, name)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		err := unix.Mount("scratch", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
		if err != nil {
			return fmt.Errorf("mount %s: %w", name, err)
		}
	}
	return nil
}
