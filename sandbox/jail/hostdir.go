package jail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// hostScratch are the writable places of a lane that has no root of its own,
// below a directory of the host; the first is the working directory.
var hostScratch = [...]string{"w", "tmp"}

// lanePrefix begins the names of such directories; the pool's set follows.
const lanePrefix = "cr-lane-"

// hostDir makes the directory of a lane that has no root of its own. Jobs may
// pass through it under a uid of their own.
func hostDir(set string) (string, error) {
	dir, err := os.MkdirTemp("", lanePrefix+set+"-")
	if err != nil {
		return "", fmt.Errorf("make lane directory: %w", err)
	}
	err = os.Chmod(dir, 0o711)
	for _, name := range hostScratch {
		place := filepath.Join(dir, name)
		// Mkdir is subject to the umask.
		err = errors.Join(err, os.Mkdir(place, 0o777), os.Chmod(place, 0o777))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "lane.py"), laneSource, 0o644))
	if err != nil {
		return "", errors.Join(fmt.Errorf("make lane directory: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

// hostPlaces are a lane's writable places below dir.
func hostPlaces(dir string) []string {
	places := make([]string, len(hostScratch))
	for i, name := range hostScratch {
		places[i] = filepath.Join(dir, name)
	}
	return places
}
