// Package devicetest is the conformance suite of tensor devices: [Run] holds a
// device to the words of [tensor.Device]. Values are compared with
// runtime/tensor/reference; that a row's result does not depend on its
// neighbours is compared bit by bit.
package devicetest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// Run tests the devices that open returns; every test opens its own and closes
// it.
func Run(t *testing.T, open func() tensor.Device) {
	tests := []struct {
		name string
		run  func(h *harness)
	}{
		{"MatMul", testMatMul},
		{"MatMulRowsAlone", testMatMulRowsAlone},
		{"Embed", testEmbed},
		{"RMSNorm", testRMSNorm},
		{"Add", testAdd},
		{"SiLUMul", testSiLUMul},
		{"RoPE", testRoPE},
		{"Rows", testRows},
		{"InPlace", testInPlace},
		{"Attention", testAttention},
		{"AttentionRowsAlone", testAttentionRowsAlone},
		{"AttentionSharedPages", testAttentionSharedPages},
		{"AttentionUnseenKeys", testAttentionUnseenKeys},
		{"Views", testViews},
		{"ShapeErrors", testShapeErrors},
		{"DataErrors", testDataErrors},
		{"FirstErrorSticks", testFirstErrorSticks},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := &harness{T: t, d: open(), rng: rand.New(rand.NewPCG(1, 2))}
			test.run(h)
			if err := h.d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// harness is a device under test with seeded inputs.
type harness struct {
	*testing.T
	d   tensor.Device
	rng *rand.Rand
}

// values returns n normal values.
func (h *harness) values(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(h.rng.NormFloat64())
	}
	return v
}

func (h *harness) new(dtype tensor.DType, shape ...int) tensor.Tensor {
	h.Helper()
	t, err := h.d.New(dtype, shape...)
	if err != nil {
		h.Fatal(err)
	}
	return t
}

// put returns a tensor that holds values.
func (h *harness) put(values []float32, shape ...int) tensor.Tensor {
	h.Helper()
	t := h.new(tensor.F32, shape...)
	h.d.Write(t, values)
	return t
}

func (h *harness) ints(values ...int32) tensor.Tensor {
	h.Helper()
	t := h.new(tensor.I32, len(values))
	h.d.WriteInts(t, values)
	return t
}

func (h *harness) read(t tensor.Tensor) []float32 {
	h.Helper()
	values := make([]float32, t.Len())
	if err := h.d.Read(values, t); err != nil {
		h.Fatal(err)
	}
	return values
}

// load loads weights from an address that no vector load is aligned for.
func (h *harness) load(dtype tensor.DType, data []byte, shape ...int) tensor.Tensor {
	h.Helper()
	odd := append(make([]byte, 2, len(data)+2), data...)[2:]
	t, err := h.d.Load(tensor.Host{DType: dtype, Shape: shape, Data: odd})
	if err != nil {
		h.Fatal(err)
	}
	return t
}

// weightTypes are the types that a weight matrix can have.
var weightTypes = [...]tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.Q8_0, tensor.Q4_0, tensor.Q4_1}

// weights returns n random stored weights of magnitude about one.
func (h *harness) weights(dtype tensor.DType, n int) []byte {
	data := make([]byte, dtype.Bytes(n))
	elements, size := dtype.Block()
	for at := 0; at < len(data); at += size {
		b := data[at : at+size]
		switch {
		case dtype == tensor.F32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(h.rng.NormFloat64())))
		case elements == 1: // a sign, an exponent of about one, a random fraction
			binary.LittleEndian.PutUint16(b, h.half(dtype))
		default:
			for i := range b {
				b[i] = byte(h.rng.Uint32())
			}
			binary.LittleEndian.PutUint16(b, 0x2000|uint16(h.rng.Uint32()&0x3ff)) // 2⁻⁷ .. 2⁻⁶
			if dtype == tensor.Q4_1 {
				binary.LittleEndian.PutUint16(b[2:], 0xb000|uint16(h.rng.Uint32()&0x3ff))
			}
		}
	}
	return data
}

func (h *harness) half(dtype tensor.DType) uint16 {
	r := uint16(h.rng.Uint32())
	if dtype == tensor.BF16 {
		return r&0x807f | 0x3f00
	}
	return r&0x83ff | 0x3800
}

// near reports values further from want than tolerance · (1 + |want|).
func (h *harness) near(got, want []float32, tolerance float64, what string) {
	h.Helper()
	if len(got) != len(want) {
		h.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		diff := math.Abs(float64(got[i]) - float64(want[i]))
		if !(diff <= tolerance*(1+math.Abs(float64(want[i])))) {
			h.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// same reports values that differ in any bit.
func (h *harness) same(got, want []float32, what string) {
	h.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			h.Fatalf("%s: element %d is %v (%08x), want %v (%08x)", what, i,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
