package jail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of a Landlock ruleset, by what they are for.
const (
	landRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// All of version 3; device files are made nowhere.
	landAll  = unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1
	landMake = landAll &^ (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
)

// landScopes keep signals and abstract sockets inside: LANDLOCK_SCOPE_SIGNAL and
// LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET of linux/landlock.h.
const landScopes = 1<<0 | 1<<1

// rulesetAttr is struct landlock_ruleset_attr of version 6.
type rulesetAttr struct{ fs, net, scoped uint64 }

// errNoLandlock means a kernel without Landlock, or one that may not be used.
var errNoLandlock = errors.New("the kernel offers no Landlock")

// confine limits this thread, and all that it execs and forks, to reading the
// files that a lane shows and to writing below dir. It is what stands in for a
// root of the lane's own where no mount is allowed.
func confine(show []string, dir string) error {
	abi, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return fmt.Errorf("%w: %w", errNoLandlock, e)
	}
	attr, size := rulesetAttr{fs: landAll}, unsafe.Sizeof(uint64(0))
	switch {
	case abi < 2:
		attr.fs &^= unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	case abi < 3:
		attr.fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		attr.net, size = unix.LANDLOCK_ACCESS_NET_BIND_TCP|unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, 2*size
	}
	if abi >= 6 {
		attr.scoped, size = landScopes, unsafe.Sizeof(attr)
	}
	ruleset, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("make Landlock ruleset: %w", e)
	}
	defer unix.Close(int(ruleset))
	if err := allowAll(int(ruleset), attr.fs, show, dir); err != nil {
		return err
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); e != 0 {
		return fmt.Errorf("apply Landlock ruleset: %w", e)
	}
	return nil
}

func allowAll(ruleset int, handled uint64, show []string, dir string) error {
	for _, path := range show {
		if err := allow(ruleset, path, landRead&handled); err != nil {
			return err
		}
	}
	for _, name := range devices {
		if err := allow(ruleset, "/dev/"+name, landFile&handled); err != nil {
			return err
		}
	}
	if err := allow(ruleset, dir, landRead&handled); err != nil {
		return err
	}
	for _, name := range hostScratch {
		if err := allow(ruleset, filepath.Join(dir, name), landMake&handled); err != nil {
			return err
		}
	}
	return nil
}

// allow grants rights on a path and all below it; one that is absent needs none.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landFile
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, e := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("allow %s: %w", path, e)
	}
	return nil
}
