package mapfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenMapsTheWholeFile(t *testing.T) {
	for _, content := range []string{"", "x", string(make([]byte, 4097)) + "end"} {
		path := filepath.Join(t.TempDir(), "w")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		// The mapping holds on to the file's content, not to its name.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if string(f.Data) != content {
			t.Errorf("mapped %d bytes, want %d", len(f.Data), len(content))
		}
		if err := f.Release(); err != nil || string(f.Data) != content {
			t.Errorf("after a release: %d bytes, %v", len(f.Data), err)
		}
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Error(err)
		}
		if f.Data != nil {
			t.Error("data outlived Close")
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder was mapped")
	}
}
