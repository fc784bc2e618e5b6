package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func readTestFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What torch wrote twice, as a pickle and as safetensors, reads the same.
func TestTorchEqualsSafetensors(t *testing.T) {
	for _, name := range []string{"state", "module"} {
		got, err := parseTorch(readTestFile(t, "testdata/torch/"+name+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		golden, err := parseSafetensors(readTestFile(t, "testdata/torch/"+name+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(golden) {
			t.Fatalf("%s: %d tensors, want %d", name, len(got), len(golden))
		}
		for _, want := range golden {
			at := slices.IndexFunc(got, func(s stored) bool { return s.name == want.name })
			if at < 0 {
				t.Fatalf("%s: no %s", name, want.name)
			}
			if g := got[at]; g.dtype != want.dtype || !slices.Equal(g.shape, want.shape) || !bytes.Equal(g.data, want.data) {
				t.Errorf("%s: %s: %s%v %x; want %s%v %x", name, want.name, g.dtype, g.shape, g.data, want.dtype, want.shape, want.data)
			}
		}
	}
}

// A conversion keeps every type, those included that no device computes with,
// and every byte.
func TestConvertTorchTypes(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, torchFile), string(readTestFile(t, "testdata/torch/types.bin")))
	if _, err := ConvertTorchFolder(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	got := rawTensors(t, readTestFile(t, filepath.Join(dir, singleFile)))
	want := rawTensors(t, readTestFile(t, "testdata/torch/types.safetensors"))
	if !maps.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// rawTensors describes a safetensors file: type, shape and bytes by name.
func rawTensors(t *testing.T, data []byte) map[string]string {
	t.Helper()
	body := 8 + binary.LittleEndian.Uint64(data)
	entries, err := parseSafetensorsHeader(data[8:body])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		all[e.name] = fmt.Sprintf("%s%v %x", e.DType, e.Shape, data[body+e.Offsets[0]:body+e.Offsets[1]])
	}
	return all
}

func TestTorchRefusals(t *testing.T) {
	for file, says := range map[string]string{
		"torch/nested.bin":                          `"state" is a *pickle.Dict, not a tensor`,
		"torch/legacy.bin":                          "before version 1.6",
		"torch/code.bin":                            `"torch.nn.modules.linear.Linear" is not allowed`,
		"fsdp/fsdp2-2/model_world_size_2_rank_0.pt": "cr merge",
	} {
		_, err := parseTorch(readTestFile(t, "testdata/"+file))
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", file, err, says)
		}
	}
	tensors, err := parseTorch(readTestFile(t, "testdata/torch/double.bin"))
	if err != nil || len(tensors) != 1 || tensors[0].foreign != "F64" {
		t.Errorf("double.bin: %+v, %v", tensors, err)
	}
}

// A folder with a .bin opens as one with safetensors does, and is converted to
// the same bytes.
func TestTorchFolder(t *testing.T) {
	want, err := Open("testdata/qwen3-single")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	dir := t.TempDir()
	for _, name := range []string{"config.json", "generation_config.json"} {
		writeFile(t, filepath.Join(dir, name), string(readTestFile(t, filepath.Join("testdata/qwen3-single", name))))
	}
	builder := newTorchBuilder()
	for _, name := range want.Names() {
		h, err := want.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		builder.tensor(name, "BFloat16Storage", h.Shape, h.Data)
	}
	writeFile(t, filepath.Join(dir, torchFile), string(builder.archive(t, zip.Store)))
	got, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if got.Fingerprint() != want.Fingerprint() {
		t.Error("the .bin reads otherwise than the safetensors")
	}
	written, err := ConvertTorchFolder(t.Context(), dir)
	if err != nil || !slices.Equal(written, []string{filepath.Join(dir, singleFile)}) {
		t.Fatal(written, err)
	}
	converted, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer converted.Close()
	if converted.Fingerprint() != want.Fingerprint() {
		t.Error("the conversion changed a tensor")
	}
}

// torchBuilder makes files as torch.save does, whatever they claim.
type torchBuilder struct {
	program  bytes.Buffer
	storages [][]byte
}

func newTorchBuilder() *torchBuilder {
	b := &torchBuilder{}
	b.program.WriteString("\x80\x02}(")
	return b
}

func (b *torchBuilder) text(s string) {
	b.program.WriteByte('X')
	_ = binary.Write(&b.program, binary.LittleEndian, uint32(len(s)))
	b.program.WriteString(s)
}

func (b *torchBuilder) int(n int) {
	b.program.WriteByte('J')
	_ = binary.Write(&b.program, binary.LittleEndian, int32(n))
}

func (b *torchBuilder) sizes(sizes []int) {
	b.program.WriteByte('(')
	for _, n := range sizes {
		b.int(n)
	}
	b.program.WriteByte('t')
}

func rowMajor(shape []int) []int {
	stride := make([]int, len(shape))
	for i := range shape {
		stride[i] = product(shape[i+1:])
	}
	return stride
}

// tensor adds a tensor over a storage of its own.
func (b *torchBuilder) tensor(name, class string, shape []int, data []byte) {
	b.storages = append(b.storages, data)
	b.view(name, class, len(b.storages)-1, product(shape), 0, shape, rowMajor(shape))
}

// view adds a tensor over storage n.
func (b *torchBuilder) view(name, class string, n, elements, offset int, shape, stride []int) {
	b.text(name)
	b.program.WriteString("ctorch._utils\n_rebuild_tensor_v2\n((")
	b.text("storage")
	b.program.WriteString("ctorch\n" + class + "\n")
	b.text(fmt.Sprint(n))
	b.text("cpu")
	b.int(elements)
	b.program.WriteString("tQ")
	b.int(offset)
	b.sizes(shape)
	b.sizes(stride)
	b.program.WriteString("\x89ccollections\nOrderedDict\n)RtR")
}

// sharing pushes a tuple that would have 3^60 parts, were it printed.
func (b *torchBuilder) sharing() {
	b.program.WriteString(")q\x00")
	for range 60 {
		b.program.WriteString("0h\x00h\x00h\x00\x87q\x00")
	}
}

func (b *torchBuilder) archive(t testing.TB, method uint16) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	write := func(name string, data []byte) {
		e, err := w.CreateHeader(&zip.FileHeader{Name: "archive/" + name, Method: method})
		if err == nil {
			_, err = e.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("data.pkl", append(bytes.Clone(b.program.Bytes()), "u."...))
	for i, data := range b.storages {
		write(fmt.Sprintf("data/%d", i), data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Files that claim far more than they hold are refused, and cost no memory.
func TestTorchBombs(t *testing.T) {
	builders := map[string]func() []byte{
		"compressed": func() []byte {
			b := newTorchBuilder()
			b.tensor("w", "FloatStorage", []int{1 << 24}, make([]byte, 64<<20))
			return b.archive(t, zip.Deflate)
		},
		"one storage, many names": func() []byte {
			b := newTorchBuilder()
			b.tensor("w", "FloatStorage", []int{1 << 16}, make([]byte, 4<<16))
			for i := range 100 {
				b.view(fmt.Sprint("w", i), "FloatStorage", 0, 1<<16, 0, []int{1 << 16}, []int{1})
			}
			return b.archive(t, zip.Store)
		},
		"strides of zero": func() []byte {
			b := newTorchBuilder()
			b.storages = [][]byte{make([]byte, 4)}
			b.view("w", "FloatStorage", 0, 1, 0, []int{1 << 30, 1 << 30}, []int{0, 0})
			return b.archive(t, zip.Store)
		},
		"beyond the storage": func() []byte {
			b := newTorchBuilder()
			b.storages = [][]byte{make([]byte, 16)}
			b.view("w", "FloatStorage", 0, 4, 1, []int{4}, []int{1})
			return b.archive(t, zip.Store)
		},
		"a storage that claims more": func() []byte {
			b := newTorchBuilder()
			b.storages = [][]byte{make([]byte, 16)}
			b.view("w", "FloatStorage", 0, 1<<30, 0, []int{4}, []int{1})
			return b.archive(t, zip.Store)
		},
		"marks without end": func() []byte {
			b := newTorchBuilder()
			b.program.WriteString(strings.Repeat("(", 20<<20))
			return b.archive(t, zip.Store)
		},
		"lists in lists": func() []byte {
			b := newTorchBuilder()
			b.text("w")
			b.program.WriteString(strings.Repeat("]", 3<<20) + strings.Repeat("a", 3<<20-1))
			return b.archive(t, zip.Store)
		},
		"doubling": func() []byte {
			b := newTorchBuilder()
			b.text("w")
			b.program.WriteString("]q\x00")
			for range 60 { // each list holds the one before twice
				b.program.WriteString("h\x00h\x00\x86q\x00")
			}
			return b.archive(t, zip.Store)
		},
		"an id of tuples that share": func() []byte {
			b := newTorchBuilder()
			b.text("w")
			b.sharing()
			b.program.WriteString("Q")
			return b.archive(t, zip.Store)
		},
		"a size of tuples that share": func() []byte {
			b := newTorchBuilder()
			b.text("w")
			b.program.WriteString("ctorch._utils\n_rebuild_tensor_v2\n(NK\x00")
			b.sharing()
			b.program.WriteString("NNNtR")
			return b.archive(t, zip.Store)
		},
		"a key of tuples that share": func() []byte {
			b := newTorchBuilder()
			b.sharing()
			b.program.WriteString("N")
			return b.archive(t, zip.Store)
		},
	}
	for name, build := range builders {
		t.Run(name, func(t *testing.T) {
			data := build()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := parseTorch(data)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
				t.Errorf("%d bytes allocated for a file of %d", used, len(data))
			}
		})
	}
}

func FuzzTorch(f *testing.F) {
	for _, name := range []string{"torch/state.bin", "torch/module.bin", "torch/code.bin", "torch/legacy.bin", "fsdp/hsdp-4/model_world_size_4_rank_1.pt", "fsdp/by-hand-2/model_world_size_2_rank_0.pt"} {
		f.Add(readTestFile(f, "testdata/"+name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := readStateDict(data)
		if err != nil {
			return
		}
		for _, n := range all {
			if s := n.local().stored(n.name); s.foreign == "" && len(s.data) != s.dtype.Bytes(product(s.shape)) {
				t.Fatalf("%s: %s%v in %d bytes", n.name, s.dtype, s.shape, len(s.data))
			}
		}
	})
}

// The program alone, which a fuzzer can change without breaking a checksum.
func FuzzTorchPickle(f *testing.F) {
	for _, name := range []string{"torch/state.bin", "fsdp/hsdp-4/model_world_size_4_rank_1.pt"} {
		r, err := zip.OpenReader("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range r.File {
			if !strings.HasSuffix(e.Name, "data.pkl") {
				continue
			}
			program, err := e.Open()
			if err != nil {
				f.Fatal(err)
			}
			data, err := io.ReadAll(program)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		b := &torchBuilder{storages: [][]byte{make([]byte, 352), make([]byte, 16)}}
		b.program.Write(program)
		_, _ = readStateDict(b.archive(t, zip.Store)) // refuses or reads, never panics
	})
}
