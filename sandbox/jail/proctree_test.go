package jail

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWaitingIsThatOfTheBusiestThread: the first thread of a virtual machine
// sleeps while others wait for a processor.
func TestWaitingIsThatOfTheBusiestThread(t *testing.T) {
	dir := t.TempDir()
	for name, stat := range map[string]string{
		"10": "5000 7 3\n",            // run, waited, slices: the first thread
		"11": "900000000 4000000 9\n", // the one that works
		"12": "1 3000000 1\n",
		"13": "garbled",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "schedstat"), []byte(stat), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := taskDelay(dir); got != 4*time.Millisecond {
		t.Errorf("waited %v, want 4ms", got)
	}
	if got := taskDelay(filepath.Join(dir, "gone")); got != 0 {
		t.Errorf("a process that has ended waited %v", got)
	}
}
