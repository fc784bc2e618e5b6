package cpu

import (
	"errors"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// A large allocation is the system's memory: a use after free must be the same
// clean error as for a small one, not a fault.
func TestLargeAllocations(t *testing.T) {
	d := New(1)
	large, err := d.New(tensor.F32, 2, mapFrom)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, mapFrom)
	row[mapFrom-1] = 3
	d.Write(large.Rows(1, 2), row)
	back := make([]float32, mapFrom)
	if err := d.Read(back, large.Rows(1, 2)); err != nil || back[mapFrom-1] != 3 {
		t.Fatalf("read %v, %v", back[mapFrom-1], err)
	}
	large.Free()
	large.Free() // twice is harmless
	if err := d.Read(back, large.Rows(0, 1)); !errors.Is(err, ErrMemory) {
		t.Errorf("after Free: %v", err)
	}
	if _, err := d.New(tensor.F32, mapFrom); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if len(d.maps) != 0 {
		t.Errorf("%d mappings outlive the device", len(d.maps))
	}
}
