package hub

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

func mustURL(t *testing.T) *url.URL {
	t.Helper()
	u, err := url.Parse("http://hub.example/x")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func writeForTest(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
