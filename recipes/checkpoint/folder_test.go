package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func open(t *testing.T, path string) *Folder {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func save(t *testing.T, f *Folder, n int, text string) {
	t.Helper()
	err := f.Save(n, func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "model"), []byte(text), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantSteps(t *testing.T, f *Folder, want ...int) {
	t.Helper()
	if got, err := f.Steps(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("checkpoints %v (%v), want %v", got, err, want)
	}
}

func TestSaveAndKeep(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "new", "run [1]"))
	if n, err := f.Latest(); n != 0 || err != nil {
		t.Errorf("latest of an empty folder is %d (%v)", n, err)
	}
	for n := 2; n <= 10; n += 2 {
		save(t, f, n, strconv.Itoa(n))
		if n == 4 {
			if err := f.MarkBest(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantSteps(t, f, 2, 4, 6, 8, 10)
	if err := f.Keep(2); err != nil {
		t.Fatal(err)
	}
	wantSteps(t, f, 4, 8, 10)
	if n, err := f.Latest(); n != 10 || err != nil {
		t.Errorf("latest is %d (%v)", n, err)
	}
	if n, err := f.Best(); n != 4 || err != nil {
		t.Errorf("best is %d (%v)", n, err)
	}
	// verl's readers take the file's text for a number.
	if text, err := os.ReadFile(filepath.Join(f.Path(), "latest_checkpointed_iteration.txt")); string(text) != "10" {
		t.Errorf("the latest file holds %q (%v)", text, err)
	}
}

// A failed save leaves what was there.
func TestFailedSave(t *testing.T) {
	f := open(t, t.TempDir())
	save(t, f, 1, "one")
	boom := errors.New("boom")
	err := f.Save(2, func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "model"), nil, 0o644), boom)
	})
	if !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	wantSteps(t, f, 1)
	if n, err := f.Latest(); n != 1 || err != nil {
		t.Errorf("latest is %d (%v)", n, err)
	}
}

// What kills at the worst moments leave is seen through, and cleared away.
func TestRestsOfAKill(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	save(t, f, 1, "one")
	save(t, f, 2, "not yet named the latest")
	if err := f.writeStep(latestFile, 1); err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{".rest-save-2", ".rest-remove-1"} {
		if err := os.MkdirAll(filepath.Join(dir, rest, "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A file that was to take the other's place.
	if err := os.WriteFile(filepath.Join(dir, "."+latestFile+".4711-0.tmp"), []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, dir)
	if n, err := f.Latest(); n != 1 || err != nil {
		t.Errorf("latest is %d (%v)", n, err)
	}
	if rests, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(rests) != 0 {
		t.Errorf("left are %v (%v)", rests, err)
	}
	save(t, f, 2, "again")
	if text, err := os.ReadFile(filepath.Join(f.Step(2), "model")); string(text) != "again" {
		t.Errorf("step 2 holds %q (%v)", text, err)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	_, err := Open(dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("error %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestBadLatestFile(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	for _, text := range []string{"", "x", "-1", "7"} {
		if err := os.WriteFile(filepath.Join(dir, latestFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if n, err := f.Latest(); err == nil {
			t.Errorf("%q is taken as step %d", text, n)
		}
	}
}
