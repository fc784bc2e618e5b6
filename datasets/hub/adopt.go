package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// staleAfter is how long an unknown writer's temporary file must lie untouched
// before it is taken for abandoned. A live writer that gets nothing for so long
// has given up.
const staleAfter = time.Hour

// Names of temporary files, STEM being the content's ETag:
//
//	STEM.HOST-PID-RANDOM.incomplete   its writer may live
//	STEM.idle-RANDOM.incomplete       given up on purpose, free for all
//	STEM.incomplete, STEM.X.incomplete  huggingface_hub's
//
// A writer never shares its file and never trusts a lock for that: it takes over
// another's by renaming it, which one alone can do.
func ownName(stem string) string {
	return fmt.Sprintf("%s.%s-%d-%08x%s", stem, hostID(), os.Getpid(), rand.Uint32(), partialSuffix)
}

func idleName(stem string) string {
	return fmt.Sprintf("%s.idle-%08x%s", stem, rand.Uint32(), partialSuffix)
}

// hostID tells apart the places in which a process id means something: the
// machine since its start, and the container.
func hostID() string {
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	sum := sha256.Sum256([]byte(name + "\x00" + string(boot) + "\x00" + space))
	return hex.EncodeToString(sum[:4])
}

// openPartial goes on from what an earlier try left in dir, or begins. Under the
// content's lock huggingface_hub's leftovers are nobody's: it writes them under
// the same lock.
func openPartial(dir, stem string, size, chunkSize int64, locked bool) (*partial, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	own := filepath.Join(dir, ownName(stem))
	if claim(dir, stem, own, locked) {
		return newPartial(own, size, chunkSize, true)
	}
	return newPartial(own, size, chunkSize, false)
}

// claim renames the largest abandoned file to own.
func claim(dir, stem, own string, locked bool) bool {
	best, _ := largest(dir, stem, locked)
	if best == "" || os.Rename(best, own) != nil {
		return false
	}
	// Files from huggingface_hub have no marks.
	err := os.Rename(marksPath(best), marksPath(own))
	return err == nil || errors.Is(err, os.ErrNotExist)
}

// largest is the abandoned file that holds the most, and how much that is.
func largest(dir, stem string, locked bool) (path string, bytes int64) {
	for _, candidate := range abandoned(dir, stem, locked) {
		info, err := os.Stat(candidate)
		if err != nil {
			continue // another process took it
		}
		if used := written(info); path == "" || used > bytes {
			path, bytes = candidate, used
		}
	}
	return path, bytes
}

// leftover is how many bytes the next try has not to write again.
func leftover(dir, stem string) int64 {
	_, bytes := largest(dir, stem, true)
	return bytes
}

// sweep removes abandoned files: the content they were on the way to is there.
func sweep(dir, stem string, locked bool) {
	for _, path := range abandoned(dir, stem, locked) {
		// Failing leaves some bytes of rubbish; the download is good.
		_ = os.Remove(path)
		_ = os.Remove(marksPath(path))
	}
}

// holdsPartials says whether a folder has anybody's temporary files.
func holdsPartials(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), partialSuffix) })
}

// abandoned lists the temporary files of a content that nobody writes.
func abandoned(dir, stem string, locked bool) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, entry := range entries {
		rest, isOurs := strings.CutPrefix(entry.Name(), stem+".")
		if !isOurs || !strings.HasSuffix("."+rest, partialSuffix) || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue
		}
		owner := strings.TrimPrefix(strings.TrimSuffix("."+rest, partialSuffix), ".")
		if ownerGone(owner) || locked && foreign(owner) || time.Since(info.ModTime()) > staleAfter {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths
}

// foreign recognises huggingface_hub's names.
func foreign(owner string) bool { return !strings.Contains(owner, "-") }

// ownerGone says whether the writer named HOST-PID-RANDOM surely ended.
func ownerGone(owner string) bool {
	parts := strings.Split(owner, "-")
	if parts[0] == "idle" {
		return true
	}
	if len(parts) != 3 || parts[0] != hostID() {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && pid > 0 && processGone(pid)
}
