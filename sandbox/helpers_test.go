package sandbox_test

import (
	"os"
	"syscall"
	"testing"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // read only
	return f
}

func signalOf(state *os.ProcessState) int {
	return int(state.Sys().(syscall.WaitStatus).Signal())
}
