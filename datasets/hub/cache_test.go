package hub_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/datasets/hub"
)

func TestParse(t *testing.T) {
	good := map[string]hub.Repo{
		"Qwen/Qwen3-1.7B":     {hub.Models, "Qwen/Qwen3-1.7B", "main"},
		"Qwen/Qwen3-1.7B@v1":  {hub.Models, "Qwen/Qwen3-1.7B", "v1"},
		"a/b@refs/pr/1":       {hub.Models, "a/b", "refs/pr/1"},
		"a/b.c_d-e@0123abcdf": {hub.Models, "a/b.c_d-e", "0123abcdf"},
	}
	for text, want := range good {
		got, err := hub.Parse(hub.Models, text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", "a/", "/b", "a/b/c", "a/../b", "a/b@", "a/b@../x", "a/b@/etc", "-a/b"} {
		if _, err := hub.Parse(hub.Models, text); !errors.Is(err, hub.ErrBadName) {
			t.Errorf("Parse(%q): %v, want ErrBadName", text, err)
		}
	}
}

// The layout is the one huggingface_hub writes.
func TestSnapshot(t *testing.T) {
	root := t.TempDir()
	sha := strings.Repeat("ab", 20)
	base := filepath.Join(root, "models--Qwen--Qwen3-1.7B")
	snapshot := filepath.Join(base, "snapshots", sha)
	for _, dir := range []string{snapshot, filepath.Join(base, "refs")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "refs", "main"), []byte(sha), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, rev := range []string{"main", sha} {
		dir, got, err := hub.Snapshot(root, hub.Repo{Kind: hub.Models, Name: "Qwen/Qwen3-1.7B", Revision: rev})
		if err != nil || dir != snapshot || got != sha {
			t.Errorf("%s: %q %q %v", rev, dir, got, err)
		}
	}
	for _, r := range []hub.Repo{{hub.Models, "Qwen/other", "main"}, {hub.Datasets, "Qwen/Qwen3-1.7B", "main"}, {hub.Models, "Qwen/Qwen3-1.7B", "v2"}} {
		if _, _, err := hub.Snapshot(root, r); !errors.Is(err, hub.ErrNotCached) {
			t.Errorf("%+v: %v, want ErrNotCached", r, err)
		}
	}
}
