package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckTargets(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"source", "old"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("source", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	sources := []string{at("gone"), at("source")}
	if err := CheckTargets(sources, at("old"), at("new"), at("no/folder/yet")); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		targets []string
		want    string
	}{
		{[]string{at("new"), at("source")}, "source: the result would replace its own source"},
		{[]string{at("link")}, "link: the result would replace its own source"},
		{[]string{at("folder")}, "folder: not a regular file"},
		{[]string{os.DevNull}, os.DevNull + ": not a regular file"},
		{[]string{at("new"), at("folder/../new")}, "new: two results in one file"},
		{[]string{at("old/new")}, "not a directory"},
	} {
		if err := CheckTargets(sources, tt.targets...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.targets, err, tt.want)
		}
	}
}
