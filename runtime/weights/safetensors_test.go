package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// safetensorsFile is a file with this header and so many zero bytes after it.
func safetensorsFile(header string, body int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(file, header...), make([]byte, body)...)
}

func TestSafetensorsTypes(t *testing.T) {
	dir := configFolder(t, minimal, "")
	copyFile(t, "testdata/types.safetensors", filepath.Join(dir, singleFile))
	c := &Checkpoint{path: dir, tensors: map[string]stored{}}
	if err := c.loadShard(singleFile, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	inf := float32(math.Inf(1))
	// What torch's f16 and bf16 make of 1, -2.5, 6e-8, 65504, ∞, -0.
	want := map[string][]float32{
		"z.f32":  {1.5, -0.1, 3e38, 1e-40},
		"f16":    {1, -2.5, 5.9604645e-08, 65504, inf, 0},
		"bf16":   {1, -2.5, 6.0070306e-08, 65536, inf, 0},
		"i32":    {-7, math.MaxInt32},
		"scalar": {2},
		"empty":  {},
	}
	for name, values := range want {
		if got := Dequantize(get(t, c, name)); !slices.Equal(got, values) {
			t.Errorf("%s is %v, want %v", name, got, values)
		}
	}
	if got := get(t, c, "empty").Shape; !slices.Equal(got, []int{0, 3}) {
		t.Errorf("shape of empty is %v", got)
	}
	for name, kind := range map[string]string{"i64": "I64", "f8": "F8_E4M3"} {
		_, err := c.Tensor(name)
		var unsupported *UnsupportedTypeError
		if !errors.As(err, &unsupported) || unsupported.Type != kind || unsupported.Tensor != name {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestSafetensorsCorrupt(t *testing.T) {
	const w = `"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	cases := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "0 bytes"},
		{"seven bytes", make([]byte, 7), "7 bytes"},
		{"absurd header", binary.LittleEndian.AppendUint64(nil, 1<<62), "the format allows"},
		{"header beyond the file", safetensorsFile(`{`+w+`}`, 0)[:40], "truncated: header"},
		{"data cut off", safetensorsFile(`{`+w+`}`, 7), "truncated: tensor w ends at byte 8 of 7"},
		{"data left over", safetensorsFile(`{`+w+`}`, 9), "1 bytes after the last tensor"},
		{"not an object", safetensorsFile(`[1]`, 0), "not a JSON object"},
		{"broken JSON", safetensorsFile(`{`+w, 8), "header"},
		{"text after the object", safetensorsFile(`{`+w+`} {}`, 8), "more than one JSON value"},
		{"twice", safetensorsFile(`{`+w+`,`+w+`}`, 8), "tensor w is stored twice in the header"},
		{"no element type", safetensorsFile(`{"w":{"shape":[2],"data_offsets":[0,8]}}`, 8), "tensor w: no dtype"},
		{"overlap", safetensorsFile(`{`+w+`,"v":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), "tensor v overlaps"},
		{"same bytes", safetensorsFile(`{`+w+`,"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8), "overlaps"},
		{"hole", safetensorsFile(`{`+w+`,"v":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}`, 16), "4 unused bytes before tensor v"},
		{"backwards", safetensorsFile(`{"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8), "data_offsets [8 0]"},
		{"no offsets", safetensorsFile(`{"w":{"dtype":"F32","shape":[2]}}`, 8), "data_offsets"},
		{"negative", safetensorsFile(`{"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, 8), `header: "w"`},
		{"size", safetensorsFile(`{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8), "F32[3] in 8 bytes"},
		{"overflow", safetensorsFile(`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), "shape"},
		{"wrapping size", safetensorsFile(`{"w":{"dtype":"F32","shape":[8,72057594037927936],"data_offsets":[0,0]}}`, 0), "shape"},
		{"rank", safetensorsFile(`{"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}}`, 4), "9 dimensions"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseSafetensors(c.file)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

// TestWriteSafetensors writes what the safetensors library wrote: the files are
// the same byte for byte.
func TestWriteSafetensors(t *testing.T) {
	golden, err := os.ReadFile("testdata/layout.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parseSafetensors(golden)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []NamedTensor
	for _, s := range parsed {
		tensors = append(tensors, NamedTensor{s.name, tensor.Host{DType: s.dtype, Shape: s.shape, Data: s.data}})
	}
	slices.Reverse(tensors)
	path := filepath.Join(t.TempDir(), "out.safetensors")
	if err := WriteSafetensors(path, tensors); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, golden) {
		t.Errorf("wrote\n%q, want\n%q", got, golden)
	}
}

func TestWriteSafetensorsRefuses(t *testing.T) {
	one := NamedTensor{"w", tensor.Host{DType: tensor.F32, Shape: []int{1}, Data: make([]byte, 4)}}
	blocks := NamedTensor{"q", tensor.Host{DType: tensor.Q8_0, Shape: []int{32}, Data: make([]byte, 34)}}
	short := NamedTensor{"w", tensor.Host{DType: tensor.F32, Shape: []int{2}, Data: make([]byte, 4)}}
	for want, tensors := range map[string][]NamedTensor{
		"stored twice":       {one, one},
		"not supported yet":  {blocks},
		"F32[2] in 4 bytes":  {short},
		"tensor __metadata_": {{"__metadata__", one.Host}},
	} {
		dir := t.TempDir()
		err := WriteSafetensors(filepath.Join(dir, "out.safetensors"), tensors)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: left %v", want, left)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	ints := tensor.Host{DType: tensor.I32, Shape: []int{1}, Data: make([]byte, 4)}
	floats := tensor.Host{DType: tensor.F32, Shape: []int{32}, Data: make([]byte, 128)}
	if _, err := Convert(ints, tensor.F32); err == nil {
		t.Error("integers became weights")
	}
	if _, err := Convert(floats, tensor.Q8_0); err == nil {
		t.Error("weights were quantised")
	}
	same, err := Convert(floats, tensor.F32)
	if err != nil || &same.Data[0] != &floats.Data[0] {
		t.Errorf("the same type was copied (%v)", err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, string(data))
}
