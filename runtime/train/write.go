package train

import (
	"io"
	"iter"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
	"github.com/coderl/cr/runtime/weights"
)

// stretch is how many values are on the host at a time while a model is loaded
// or saved, so that neither takes memory beside what training takes. It is a
// multiple of every block of quantised values.
const stretch = 1 << 18

// stretches yields the bounds of n values, a stretch at a time.
func stretches(n int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < n; lo += stretch {
			if !yield(lo, min(lo+stretch, n)) {
				return
			}
		}
	}
}

// part returns the values [lo, hi) of a stored tensor.
func part(host tensor.Host, lo, hi int) []float32 {
	data := host.Data[host.DType.Bytes(lo):host.DType.Bytes(hi)]
	return weights.Dequantize(tensor.Host{DType: host.DType, Shape: []int{hi - lo}, Data: data})
}

// load sets F32 memory to a stored tensor's values.
func (t *Trainer) load(x tensor.Tensor, host tensor.Host) {
	flat := x.Reshape(x.Len())
	for lo, hi := range stretches(flat.Len()) {
		t.dev.Write(flat.Rows(lo, hi), part(host, lo, hi))
	}
}

// save writes the values of memory on the device in an element type.
func (t *Trainer) save(w io.Writer, dtype tensor.DType, x tensor.Tensor) error {
	flat := x.Reshape(x.Len())
	values := make([]float32, min(stretch, flat.Len()))
	for lo, hi := range stretches(flat.Len()) {
		if err := t.dev.Read(values[:hi-lo], flat.Rows(lo, hi)); err != nil {
			return err
		}
		if err := writeValues(w, dtype, values[:hi-lo]); err != nil {
			return err
		}
	}
	return nil
}

// saveStored writes a stored tensor's values in an element type.
func saveStored(w io.Writer, dtype tensor.DType, host tensor.Host) error {
	for lo, hi := range stretches(tensor.Tensor{Shape: host.Shape}.Len()) {
		if err := writeValues(w, dtype, part(host, lo, hi)); err != nil {
			return err
		}
	}
	return nil
}

// writeValues writes values in an element type.
func writeValues(w io.Writer, dtype tensor.DType, values []float32) error {
	bytes := make([]byte, dtype.Bytes(len(values)))
	reference.Encode(bytes, dtype, values)
	_, err := w.Write(bytes)
	return err
}
