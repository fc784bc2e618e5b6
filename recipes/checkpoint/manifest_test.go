package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// settle begins or goes on with a run whose schedule is its only setting.
func settle(f *Folder, schedule int, resume bool) (Manifest, error) {
	now := Manifest{Schedule: schedule}
	return f.Settle(now, []byte("kind: sft\n"), resume, func(old Manifest, _ string) error {
		if old.Schedule != schedule {
			return errors.New("another schedule")
		}
		return nil
	})
}

// A run without a checkpoint stands in nobody's way: not with --resume, nor
// without, nor with other settings. One with a checkpoint does.
func TestSettle(t *testing.T) {
	f := open(t, t.TempDir())
	for _, resume := range []bool{false, false, true} {
		for schedule := range 3 {
			if m, err := settle(f, schedule, resume); err != nil || m.Schedule != schedule {
				t.Errorf("a folder without a checkpoint: %+v (%v)", m, err)
			}
		}
	}
	save(t, f, 1, "one")
	if _, err := settle(f, 2, false); !errors.Is(err, ErrRunExists) {
		t.Errorf("a second run: %v", err)
	}
	if _, err := settle(f, 3, true); !errors.Is(err, ErrSettingsDiffer) {
		t.Errorf("other settings: %v", err)
	}
	if m, err := settle(f, 2, true); err != nil || m.Schedule != 2 {
		t.Errorf("the same settings: %+v (%v)", m, err)
	}
}

// Files that are not what a run leaves are told apart from other settings, and
// nothing is written over.
func TestSettleDamaged(t *testing.T) {
	f := open(t, t.TempDir())
	if _, err := settle(f, 2, false); err != nil {
		t.Fatal(err)
	}
	save(t, f, 1, "one")
	path := filepath.Join(f.Path(), runFile)
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := settle(f, 2, true); !errors.Is(err, ErrDamaged) {
		t.Errorf("half of %s: %v", runFile, err)
	}
	if text, err := os.ReadFile(path); string(text) != "{" {
		t.Errorf("it holds %q (%v)", text, err)
	}
	var s struct{}
	if err := ReadState(f.Step(1), &s); !errors.Is(err, ErrDamaged) {
		t.Errorf("no state: %v", err)
	}
	// A checkpoint that is named but gone is no reason to begin anew.
	if err := f.Remove(1); err != nil {
		t.Fatal(err)
	}
	if _, err := settle(f, 2, false); !errors.Is(err, ErrRunExists) {
		t.Errorf("the checkpoint is gone: %v", err)
	}
}
