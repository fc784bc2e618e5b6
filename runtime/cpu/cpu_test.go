package cpu

import (
	"errors"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

func TestOpenNamesItsKernels(t *testing.T) {
	if _, err := Open(Options{Threads: 1, Kernels: "mmx"}); err == nil {
		t.Fatal("opened unknown kernels")
	}
	for _, name := range Kernels() {
		d, err := Open(Options{Threads: 2, Kernels: name})
		if err != nil {
			t.Fatal(err)
		}
		if d.KernelName() != name {
			t.Errorf("asked for %s, got %s", name, d.KernelName())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFreedMemoryIsAnError(t *testing.T) {
	d := New(1)
	defer d.Close()
	x, err := d.New(tensor.F32, 4)
	if err != nil {
		t.Fatal(err)
	}
	x.Free()
	d.Write(x, make([]float32, 4))
	if err := d.Sync(); !errors.Is(err, ErrMemory) {
		t.Errorf("use after free: %v", err)
	}
	if err := d.Sync(); err != nil {
		t.Errorf("the error was reported twice: %v", err)
	}
}
