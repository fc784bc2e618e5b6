package strict

import (
	"errors"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/devicetest"
)

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() tensor.Device { return New() })
}

func TestReportsMisuse(t *testing.T) {
	weight := tensor.Host{DType: tensor.F32, Shape: []int{1, 4}, Data: make([]byte, 16)}
	misuses := map[string]struct {
		want error
		run  func(d *Device, x tensor.Tensor)
	}{
		"use after free":  {ErrFreed, func(d *Device, x tensor.Tensor) { x.Free(); d.Add(x, x, x) }},
		"double free":     {ErrFreed, func(_ *Device, x tensor.Tensor) { x.Free(); x.Free() }},
		"another device":  {ErrForeign, func(_ *Device, x tensor.Tensor) { x.Mem.(*memory).dev = New() }},
		"past the end":    {ErrBounds, func(d *Device, x tensor.Tensor) { d.Write(x.Rows(3, 5), make([]float32, 8)) }},
		"partial overlap": {ErrOverlap, func(d *Device, x tensor.Tensor) { d.Add(x.Rows(0, 2), x.Rows(1, 3), x.Rows(1, 3)) }},
		"write to weight": {ErrWeight, func(d *Device, _ tensor.Tensor) {
			w, err := d.Load(weight)
			if err != nil {
				t.Fatal(err)
			}
			d.Write(w, make([]float32, 4))
		}},
	}
	for name, m := range misuses {
		d := New()
		x, err := d.New(tensor.F32, 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		m.run(d, x)
		if errors.Is(m.want, ErrForeign) {
			d.Add(x, x, x)
		}
		if err := d.Sync(); !errors.Is(err, m.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingRunsBeforeSync(t *testing.T) {
	d := New()
	x, err := d.New(tensor.F32, 2)
	if err != nil {
		t.Fatal(err)
	}
	d.Write(x, []float32{1, 2})
	d.Add(x, x, x)
	if d.Queued() != 2 || x.Mem.(*memory).floats[0] != 0 {
		t.Errorf("%d calls queued, value %v", d.Queued(), x.Mem.(*memory).floats[0])
	}
	y, err := d.New(tensor.F32, 2)
	if err != nil {
		t.Fatal(err)
	}
	d.Add(y, x, x)
	x.Free() // the work before it still sees the values
	got := make([]float32, 2)
	if err := d.Read(got, y); err != nil || got[0] != 4 || got[1] != 8 {
		t.Errorf("read %v, %v", got, err)
	}
	if d.Live() != 1 {
		t.Errorf("%d live, want 1", d.Live())
	}
}
