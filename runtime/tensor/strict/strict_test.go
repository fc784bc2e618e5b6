package strict

import (
	"errors"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/devicetest"
)

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() tensor.Device { return New() })
	devicetest.RunTraining(t, func() tensor.TrainingDevice { return New() })
}

// TestReportsMisuseOfGradients gives every operation of the backward pass memory
// that was freed, or that is an input too.
func TestReportsMisuseOfGradients(t *testing.T) {
	d := New()
	x, freed, ids := newTensor(t, d, tensor.F32), newTensor(t, d, tensor.F32), newTensor(t, d, tensor.I32)
	freed.Free()
	cube := func(x tensor.Tensor) tensor.Tensor { return x.Reshape(4, 1, 1) }
	row, none := func(x tensor.Tensor) tensor.Tensor { return x.Reshape(4, 1) }, tensor.Tensor{}
	b := tensor.PackedBatch{Starts: []int32{0, 4}, Scale: 1}
	calls := map[string]func(bad tensor.Tensor){
		"AddRows": func(bad tensor.Tensor) { d.AddRows(row(x), row(bad), ids) },
		"SumRows": func(bad tensor.Tensor) { d.SumRows(x, bad) },
		"MatMulGradX": func(bad tensor.Tensor) {
			d.MatMulGradX(row(x), row(newTensor(t, d, tensor.F32)), bad.Reshape(4, 1).Rows(0, 1))
		},
		"MatMulGradW": func(bad tensor.Tensor) { d.MatMulGradW(row(x).Rows(0, 1), row(bad), row(newTensor(t, d, tensor.F32))) },
		"RMSNormGrad": func(bad tensor.Tensor) {
			d.RMSNormGrad(x, none, bad, newTensor(t, d, tensor.F32), newTensor(t, d, tensor.F32), 1)
		},
		"SiLUMulGrad": func(bad tensor.Tensor) {
			d.SiLUMulGrad(x, bad, newTensor(t, d, tensor.F32), newTensor(t, d, tensor.F32), newTensor(t, d, tensor.F32))
		},
		"PackedAttention": func(bad tensor.Tensor) {
			y := cube(newTensor(t, d, tensor.F32))
			d.PackedAttention(y, row(x), cube(bad), y, y, b)
		},
		"LogProbs": func(bad tensor.Tensor) {
			d.LogProbs(x, newTensor(t, d, tensor.F32), bad, row(newTensor(t, d, tensor.F32)), ids, 1)
		},
		"LogProbsGrad": func(bad tensor.Tensor) { d.LogProbsGrad(row(x), bad, none, ids, newTensor(t, d, tensor.F32), none, 1) },
		"SumSquares":   func(bad tensor.Tensor) { d.SumSquares(x.Rows(0, 1), bad) },
		"AdamW": func(bad tensor.Tensor) {
			d.AdamW(x, bad, newTensor(t, d, tensor.F32), newTensor(t, d, tensor.F32), tensor.AdamWStep{Step: 1})
		},
	}
	for op, call := range calls {
		call(freed)
		if err := d.Sync(); !errors.Is(err, ErrFreed) {
			t.Errorf("%s of freed memory: %v", op, err)
		}
		call(x)
		if err := d.Sync(); !errors.Is(err, ErrOverlap) {
			t.Errorf("%s of a destination: %v", op, err)
		}
	}
}

func newTensor(t *testing.T, d *Device, dtype tensor.DType) tensor.Tensor {
	t.Helper()
	x, err := d.New(dtype, 4)
	if err != nil {
		t.Fatal(err)
	}
	return x
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
