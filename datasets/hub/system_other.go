//go:build !unix

package hub

import (
	"errors"
	"math"
	"os"
)

// processGone cannot tell here: age decides.
func processGone(int) bool { return false }

func written(info os.FileInfo) int64 { return info.Size() }

// tryLock has no lock to take here: a file fetched twice is still right.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

// freeSpace cannot tell here; a full disk shows when writing.
func freeSpace(string) (int64, error) { return math.MaxInt64, nil }

func diskFull(error) bool { return false }
