package shipped

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
)

func set(weights string) fstest.MapFS {
	return fstest.MapFS{
		"README.md":              {Data: []byte("not a model")},
		"small/config.json":      {Data: []byte("{}")},
		"small/model.weights":    {Data: []byte(weights)},
		"small/extra/notes.json": {Data: []byte("[]")},
	}
}

func TestUnpackWritesEveryFileOnce(t *testing.T) {
	cache := t.TempDir()
	var folders [8]string
	var wg sync.WaitGroup
	for i := range folders {
		wg.Go(func() {
			var err error
			if folders[i], err = Unpack(set("abc"), "small", cache); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, f := range folders {
		if f != folders[0] {
			t.Errorf("two folders for one model: %s and %s", f, folders[0])
		}
	}
	for name, want := range map[string]string{"config.json": "{}", "model.weights": "abc", "extra/notes.json": "[]"} {
		if got, err := os.ReadFile(filepath.Join(folders[0], name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
}

// A file that was damaged, or cut off by a crash, is written again.
func TestUnpackMendsWhatIsThere(t *testing.T) {
	cache := t.TempDir()
	folder, err := Unpack(set("abc"), "small", cache)
	if err != nil {
		t.Fatal(err)
	}
	weights := filepath.Join(folder, "model.weights")
	if err := os.WriteFile(weights, []byte("ab"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(set("abc"), "small", cache); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(weights); string(got) != "abc" {
		t.Errorf("the damaged file is %q still", got)
	}
}

func TestVersionsDoNotMeet(t *testing.T) {
	cache := t.TempDir()
	old, err := Unpack(set("abc"), "small", cache)
	if err != nil {
		t.Fatal(err)
	}
	now, err := Unpack(set("abd"), "small", cache)
	if err != nil {
		t.Fatal(err)
	}
	if old == now {
		t.Errorf("both versions are in %s", now)
	}
}

func TestOnlyFoldersAreModels(t *testing.T) {
	if names, err := Names(set("")); err != nil || len(names) != 1 || names[0] != "small" {
		t.Errorf("%v %v, want small alone", names, err)
	}
	if Has(set(""), "README.md") || Has(set(""), "tiny") || !Has(set(""), "small") {
		t.Error("Has tells other models than Names")
	}
	if _, err := Unpack(set(""), "tiny", t.TempDir()); err == nil {
		t.Error("a model that is not there is unpacked")
	}
}
