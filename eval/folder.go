package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/coderl/cr/internal/atomicfile"
)

// The files of a run folder.
const (
	runFile     = "run.json"
	journalFile = "journal.jsonl" // finished samples as they came; what a resumed run goes on from
	samplesFile = "samples.jsonl"
	resultsFile = "results.json"
	timingFile  = "timing.json"
)

// Errors about run folders that callers branch on.
var (
	// ErrRunExists: the folder holds a run, and going on with it was not asked for.
	ErrRunExists = errors.New("holds a run already")
	// ErrSettingsDiffer: the run in the folder was made with other settings.
	ErrSettingsDiffer = errors.New("was made with other settings")
)

// manifest is run.json.
type manifest struct {
	Version   string          `json:"version"` // of cr
	Settings  json.RawMessage `json:"settings"`
	DataNotes []string        `json:"data_notes"`
}

// folder is an open run folder. Only one process at a time holds it.
type folder struct {
	path    string
	journal *journal
}

// openFolder creates a run folder, or opens the one to resume after checking
// that its settings are the same.
func openFolder(c Config, settings []Setting, notes []string) (*folder, error) {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return nil, fmt.Errorf("create run folder: %w", err)
	}
	if err := mayOpen(c, settings); err != nil {
		return nil, err
	}
	j, err := openJournal(filepath.Join(c.Out, journalFile))
	if err != nil {
		return nil, err
	}
	f := &folder{path: c.Out, journal: j}
	// Once more, as now no other process can write the folder.
	if err := f.settle(c, settings, notes); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return f, nil
}

// mayOpen refuses a folder with another run, before anything in it is touched.
func mayOpen(c Config, settings []Setting) error {
	old, err := os.ReadFile(filepath.Join(c.Out, runFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read run folder: %w", err)
	case !c.Resume:
		return fmt.Errorf("run folder %s %w: resume it, or choose another folder", c.Out, ErrRunExists)
	default:
		return sameSettings(c.Out, old, settings)
	}
}

// settle makes the settings in the folder those of the run. Samples without the
// settings that they were made with are of no use.
func (f *folder) settle(c Config, settings []Setting, notes []string) error {
	path := filepath.Join(f.path, runFile)
	if _, err := os.Stat(path); err == nil {
		return mayOpen(c, settings)
	}
	if f.journal.end > 0 {
		return fmt.Errorf("run folder %s %w, but %s is missing: choose another folder, or remove %s", f.path, ErrRunExists, runFile, journalFile)
	}
	return writeManifest(c, settings, notes)
}

func (f *folder) Close() error { return f.journal.Close() }

func writeManifest(c Config, settings []Setting, notes []string) error {
	object, err := settingsObject(settings)
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(c.Out, runFile), manifest{Version: c.Version, Settings: object, DataNotes: notes})
}

// sameSettings names the first setting that differs from run.json's.
func sameSettings(out string, old []byte, settings []Setting) error {
	var m struct {
		Settings map[string]json.RawMessage `json:"settings"`
	}
	if err := json.Unmarshal(old, &m); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(out, runFile), err)
	}
	for _, s := range settings {
		now, err := json.Marshal(s.Value)
		if err != nil {
			return fmt.Errorf("setting %s: %w", s.Name, err)
		}
		before, known := m.Settings[s.Name]
		delete(m.Settings, s.Name)
		if !known {
			before = json.RawMessage("(not set)")
		}
		if !bytes.Equal(compact(before), compact(now)) {
			return fmt.Errorf("run folder %s %w: %s was %s, now %s", out, ErrSettingsDiffer, s.Name, compact(before), now)
		}
	}
	for name, before := range m.Settings {
		return fmt.Errorf("run folder %s %w: %s was %s, now (not set)", out, ErrSettingsDiffer, name, compact(before))
	}
	return nil
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// writeJSON writes an indented JSON file, whole or not at all.
func writeJSON(path string, value any) error {
	var b bytes.Buffer
	if err := indentJSON(&b, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.WriteBytes(path, b.Bytes())
}

func indentJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// lock takes the advisory lock of an open file, which the system drops with the
// process, however it ends.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another process is working in this run folder")
	}
	return err
}
