package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func wantOnly(t *testing.T, path, content string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("%s holds %.40q (%v), want %.40q", path, got, err, content)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v (%v), want one file", entries, err)
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	for _, content := range []string{"first", "", "third, longer"} {
		if err := WriteBytes(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		wantOnly(t, path, content)
	}
}

func TestFailedFillLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		// More than the buffer, so that part of it has reached the disk.
		if _, err := w.Write(bytes.Repeat([]byte("new"), bufferSize)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	wantOnly(t, path, "old")
}

func TestFailedRenameLeavesNoTemporary(t *testing.T) {
	dir := t.TempDir()
	// A folder that is not empty cannot be replaced by a file.
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(path, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("folder holds %v", entries)
	}
}

func TestReplacedFileKeepsItsPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode is %v (%v)", info.Mode(), err)
	}
}

func TestPathInTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := WriteBytes("plain", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("plain"); err != nil || string(got) != "x" {
		t.Errorf("holds %q (%v)", got, err)
	}
}

// A reader beside the writers only ever sees one of the whole contents.
func TestConcurrentWritersAndReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	contents := [][]byte{bytes.Repeat([]byte("a"), 200_000), bytes.Repeat([]byte("b"), 100_000)}
	if err := WriteBytes(path, contents[0]); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, content := range contents {
		writers.Go(func() {
			for range 20 {
				if err := WriteBytes(path, content); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil || (!bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1])) {
			t.Fatalf("read %d bytes of neither content (%v)", len(got), err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("folder holds %v", entries)
	}
}

// What is no file keeps its place.
func TestOnlyFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	for _, path := range []string{dir, fifo} {
		if err := WriteBytes(path, nil); !errors.Is(err, ErrNotFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v", err)
	}
}
