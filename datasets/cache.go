package datasets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotCached means that LiveCodeBench is not in the Hugging Face cache.
var ErrNotCached = errors.New("LiveCodeBench is not in the cache")

// cachedName is the dataset's folder in a Hugging Face cache.
const cachedName = "datasets--livecodebench--code_generation_lite"

// cachedFolder finds the snapshot that refs/main names. root is HF_HOME or the
// hub folder inside it.
func cachedFolder(root string) (string, error) {
	for _, base := range []string{filepath.Join(root, "hub", cachedName), filepath.Join(root, cachedName)} {
		ref, err := os.ReadFile(filepath.Join(base, "refs", "main"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("cached LiveCodeBench: %w", err)
		}
		commit := strings.TrimSpace(string(ref))
		if !filepath.IsLocal(commit) || strings.ContainsAny(commit, `/\`) {
			return "", fmt.Errorf("cached LiveCodeBench: %s: %q is no commit", filepath.Join(base, "refs", "main"), commit)
		}
		folder := filepath.Join(base, "snapshots", commit)
		if _, err := os.Stat(folder); err == nil {
			return folder, nil
		}
	}
	return "", fmt.Errorf("%w at %s", ErrNotCached, root)
}
