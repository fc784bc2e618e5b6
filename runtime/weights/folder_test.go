package weights

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// filled is a tensor of the embeddings' shape in the minimal configuration.
func filled(name string, value byte) NamedTensor {
	return NamedTensor{name, tensor.Host{DType: tensor.F32, Shape: []int{4, 8}, Data: bytes.Repeat([]byte{value}, 4*8*4)}}
}

func writeShard(t *testing.T, dir, file string, tensors ...NamedTensor) {
	t.Helper()
	if err := WriteSafetensors(filepath.Join(dir, file), tensors); err != nil {
		t.Fatal(err)
	}
}

const pointerText = "version https://git-lfs.github.com/spec/v1\n" +
	"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 1234567890\n"

// Three shards, of which a case damages one thing.
const index = `{"weight_map": {"w": "model-00001-of-00003.safetensors", "model.embed_tokens.weight": "model-00002-of-00003.safetensors",
	"lm_head.weight": "model-00003-of-00003.safetensors"}}`

func writeShards(t *testing.T, dir string) {
	t.Helper()
	writeFile(t, filepath.Join(dir, indexFile), index)
	writeShard(t, dir, "model-00001-of-00003.safetensors", filled("w", 1))
	writeShard(t, dir, "model-00002-of-00003.safetensors", filled(embeddings, 2), filled("unlisted", 9))
	writeShard(t, dir, "model-00003-of-00003.safetensors", filled(outputHead, 3))
}

func TestIndex(t *testing.T) {
	dir := configFolder(t, minimal, "")
	writeShards(t, dir)
	c := open(t, dir)
	if want := []string{outputHead, embeddings, "w"}; !slices.Equal(c.Names(), want) {
		t.Errorf("names are %v, want %v", c.Names(), want)
	}
	if _, err := c.Tensor("v"); !errors.Is(err, ErrBadCheckpoint) || !errors.As(err, new(*MissingTensorError)) {
		t.Errorf("error is %v", err)
	}
}

func TestFolderRefusals(t *testing.T) {
	cases := []struct {
		name   string
		damage func(dir string)
		is     error
		as     any
		want   string
	}{
		{"pointer", func(dir string) { writeFile(t, filepath.Join(dir, singleFile), pointerText) }, ErrPointer, nil, "model.safetensors: LFS pointer, not weights"},
		{"pointer in place of a shard", func(dir string) {
			writeFile(t, filepath.Join(dir, "model-00003-of-00003.safetensors"), pointerText)
		}, ErrPointer, nil, "model-00003-of-00003.safetensors: LFS pointer, not weights"},
		{"pointer in place of the index", func(dir string) { writeFile(t, filepath.Join(dir, indexFile), pointerText) }, ErrPointer, nil, indexFile},
		{"missing shard", func(dir string) { remove(t, dir, "model-00002-of-00003.safetensors") }, nil, new(*MissingShardError), "missing model-00002-of-00003.safetensors"},
		{"misplaced", func(dir string) {
			writeShard(t, dir, "model-00001-of-00003.safetensors")
			writeShard(t, dir, "model-00002-of-00003.safetensors", filled("w", 1), filled(embeddings, 2))
		}, nil, new(*MissingTensorError), "tensor w not in shard model-00001-of-00003.safetensors"},
		{"in two shards", func(dir string) {
			writeShard(t, dir, "model-00002-of-00003.safetensors", filled("w", 1), filled(embeddings, 2))
		}, nil, new(*DuplicateTensorError), "tensor w is stored twice, in model-00001-of-00003.safetensors and in model-00002"},
		{"shard outside the folder", func(dir string) {
			writeFile(t, filepath.Join(dir, indexFile), `{"weight_map": {"w": "../x.safetensors"}}`)
		}, ErrCorrupt, nil, "not a plain file name"},
		{"empty index", func(dir string) { writeFile(t, filepath.Join(dir, indexFile), `{}`) }, ErrCorrupt, nil, "no weight_map"},
		{"untied without head", func(dir string) { writeShard(t, dir, singleFile, filled(embeddings, 2)) }, ErrUntied, nil, "lm_head.weight is missing"},
		{"no embeddings", func(dir string) { writeShard(t, dir, singleFile, filled(outputHead, 2)) }, nil, new(*MissingTensorError), embeddings},
		{"wrong shape", func(dir string) {
			wide := filled(embeddings, 1)
			wide.Shape = []int{8, 4}
			writeShard(t, dir, singleFile, wide)
		}, nil, new(*ShapeError), "tensor model.embed_tokens.weight has shape [8 4], the configuration asks for [4 8]"},
		{"head size of another model", func(dir string) {
			q := NamedTensor{"model.layers.0.self_attn.q_proj.weight", filled("", 1).Host}
			writeShard(t, dir, singleFile, filled(embeddings, 1), filled(outputHead, 1), q)
		}, nil, new(*ShapeError), "self_attn.q_proj.weight has shape [4 8], the configuration asks for [8 8]"},
		{"a pickle that is none", func(dir string) {
			remove(t, dir, indexFile)
			writeFile(t, filepath.Join(dir, "pytorch_model.bin"), "")
		}, ErrCorrupt, nil, "pytorch_model.bin: corrupt weight file: not a torch file"},
		{"no weights", func(dir string) { remove(t, dir, indexFile) }, nil, nil, "no model.safetensors and no"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := configFolder(t, minimal, "")
			writeShards(t, dir)
			c.damage(dir)
			_, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Fatalf("error is %v, want %q", err, c.want)
			}
			if !errors.Is(err, ErrBadCheckpoint) || (c.is != nil && !errors.Is(err, c.is)) || (c.as != nil && !errors.As(err, c.as)) {
				t.Errorf("error %v is not of its kind", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error has more than one line: %q", err)
			}
		})
	}
}

func TestFingerprintFollowsNamesAndValues(t *testing.T) {
	seen := map[string]string{}
	for name, tensors := range map[string][]NamedTensor{
		"first":         {filled(embeddings, 1), filled(outputHead, 2), filled("w", 3)},
		"another value": {filled(embeddings, 1), filled(outputHead, 2), filled("w", 4)},
		"another name":  {filled(embeddings, 1), filled(outputHead, 2), filled("v", 3)},
	} {
		dirs := [2]string{configFolder(t, minimal, ""), configFolder(t, minimal, "")}
		for _, dir := range dirs {
			writeShard(t, dir, singleFile, tensors...)
		}
		digest := open(t, dirs[0]).Fingerprint()
		if again := open(t, dirs[1]).Fingerprint(); again != digest {
			t.Errorf("%s: two fingerprints, %s and %s", name, digest, again)
		}
		if other, ok := seen[digest]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[digest] = name
	}
}

// One changed value changes the digest, wherever it lies: a fingerprint would not
// see most.
func TestDigestSeesEveryValue(t *testing.T) {
	dir := configFolder(t, minimal, "")
	writeShard(t, dir, singleFile, filled(embeddings, 1), filled(outputHead, 2), filled("w", 3))
	digest := func() string {
		d, err := open(t, dir).Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before := digest()
	if again := digest(); again != before {
		t.Errorf("two digests, %s and %s", before, again)
	}
	path := filepath.Join(dir, singleFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, fromEnd := range []int{1, len(content) / 8, len(content) / 4} {
		changed := slices.Clone(content)
		changed[len(content)-fromEnd] ^= 1
		if err := os.WriteFile(path, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if digest() == before {
			t.Errorf("the bit %d bytes before the end changes nothing", fromEnd)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, dir).Digest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAbsentPathIsNoBadCheckpoint(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "absent"))
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrBadCheckpoint) {
		t.Errorf("error is %v", err)
	}
}

// The four states of a tie flag, as transformers resolves them.
func TestTiedEmbeddings(t *testing.T) {
	tied := strings.Replace(minimal, "{", `{"tie_word_embeddings": true, `, 1)
	cases := []struct {
		name, config string
		tensors      []NamedTensor
		tied         bool
		notices      int
	}{
		{"tied, one stored", tied, []NamedTensor{filled(embeddings, 1)}, true, 0},
		{"tied, only the head stored", tied, []NamedTensor{filled(outputHead, 1)}, true, 0},
		{"tied, both stored and equal", tied, []NamedTensor{filled(embeddings, 1), filled(outputHead, 1)}, true, 0},
		{"tied, both stored and different", tied, []NamedTensor{filled(embeddings, 1), filled(outputHead, 2)}, false, 1},
		{"untied", minimal, []NamedTensor{filled(embeddings, 1), filled(outputHead, 2)}, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := configFolder(t, c.config, "")
			writeShard(t, dir, singleFile, c.tensors...)
			checkpoint := open(t, dir)
			if got := checkpoint.Config().TieEmbeddings; got != c.tied {
				t.Errorf("tied is %v", got)
			}
			if got := checkpoint.Notices(); len(got) != c.notices {
				t.Errorf("notices are %q", got)
			}
			if got := get(t, checkpoint, embeddings).Data[0]; got != 1 {
				t.Errorf("embedding is %d", got)
			}
		})
	}
}

// An odd header length leaves the data unaligned in the file, but not in memory.
func TestUnalignedFileIsReadRight(t *testing.T) {
	header := `{"model.embed_tokens.weight":{"dtype":"F32","shape":[4,8],"data_offsets":[0,128]}}`
	if len(header)%4 == 0 {
		header += " "
	}
	file := safetensorsFile(header, 128)
	copy(file[len(file)-128:], []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})
	dir := configFolder(t, strings.Replace(minimal, "{", `{"tie_word_embeddings": true, `, 1), "")
	writeFile(t, filepath.Join(dir, singleFile), string(file))
	h := get(t, open(t, dir), embeddings)
	if got := Dequantize(h)[:3]; !slices.Equal(got, []float32{1, 2, 0}) {
		t.Errorf("values are %v", got)
	}
	if address(h.Data)%4 != 0 {
		t.Error("data is not aligned")
	}
}

func remove(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
}
