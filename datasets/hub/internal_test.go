package hub

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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

// OwnName is the name of another process' temporary file.
func OwnName(stem string, pid int) string {
	return strings.Replace(ownName(stem), fmt.Sprintf("-%d-", os.Getpid()), fmt.Sprintf("-%d-", pid), 1)
}
