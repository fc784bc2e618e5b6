package weights_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/weights"
)

// merge merges a checkpoint into a new folder.
func merge(t *testing.T, dir string, o weights.MergeOptions) (string, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "model")
	_, err := weights.Merge(t.Context(), dir, out, o)
	return out, err
}

// wantSafetensors compares a folder's tensors with a file that torch wrote, bit
// for bit.
func wantSafetensors(t *testing.T, dir, golden string) {
	t.Helper()
	got, err := weights.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	// The golden file becomes a model with the same configuration.
	whole := t.TempDir()
	for _, name := range []string{"config.json", "model.safetensors"} {
		from := filepath.Join(dir, name)
		if name == "model.safetensors" {
			from = golden
		}
		copyInto(t, from, filepath.Join(whole, name))
	}
	want, err := weights.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if g, w := got.Names(), want.Names(); strings.Join(g, " ") != strings.Join(w, " ") {
		t.Fatalf("tensors %v, want %v", g, w)
	}
	for _, name := range want.Names() {
		g, err := got.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := want.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if g.DType != w.DType || !bytes.Equal(g.Data, w.Data) {
			t.Errorf("%s: %s %v differs from torch's %s %v", name, g.DType, g.Shape, w.DType, w.Shape)
		}
	}
}

func copyInto(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every checkpoint holds the same model, cut by torch in another way; the names
// say how.
func TestMergeEqualsTorch(t *testing.T) {
	for _, name := range []string{"fsdp2-1", "fsdp2-2", "fsdp2-4", "fsdp2-8", "fsdp1-2", "hsdp-4", "by-hand-2", "plain-mesh-2"} {
		for dtype, golden := range map[string]string{"": "whole.bf16.safetensors", "file": "whole.f32.safetensors", "f32": "whole.f32.safetensors"} {
			t.Run(name+" "+dtype, func(t *testing.T) {
				dir := filepath.Join("testdata/fsdp", name)
				out, err := merge(t, dir, weights.MergeOptions{DType: dtype})
				if err != nil {
					t.Fatal(err)
				}
				wantSafetensors(t, out, filepath.Join("testdata/fsdp", golden))
				want, err := os.ReadFile(filepath.Join(dir, "huggingface/generation_config.json"))
				if err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(out, "generation_config.json"))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("generation_config.json changed: %s, %v", got, err)
				}
				if says := configOf(t, out)["dtype"]; dtype == "f32" && says != "float32" || dtype == "" && says != "bfloat16" {
					t.Errorf("config.json says %v", says)
				}
			})
		}
	}
}

func configOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// Several files: the index lists what was written, where it was written.
func TestMergeShards(t *testing.T) {
	out, err := merge(t, "testdata/fsdp/fsdp2-4", weights.MergeOptions{ShardBytes: 600})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "model.safetensors.index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Metadata  map[string]int64  `json:"metadata"`
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	if _, has := index.WeightMap["lm_head.weight"]; has || len(index.WeightMap) != 13 {
		t.Errorf("%d tensors in the index, lm_head %v", len(index.WeightMap), has)
	}
	// Parameters of the configuration at two bytes each.
	if want := int64(2 * (21*8 + 8*8 + 2*4*8 + 8*8 + 2*4 + 3*12*8 + 3*8)); index.Metadata["total_size"] != want {
		t.Errorf("total_size %d, want %d", index.Metadata["total_size"], want)
	}
	if err := weights.CheckFolder(out, false); err != nil {
		t.Error(err)
	}
}

// clone copies a checkpoint so that a test may damage it.
func clone(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "checkpoint")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestMergeRefuses(t *testing.T) {
	replaceConfig := func(old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "huggingface/config.json")
			data, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(data, []byte(old)) {
				t.Fatal(err, "no", old)
			}
			if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte(old), []byte(new)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	replaceShard := func(old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, rank := range []string{"0", "1"} {
				path := filepath.Join(dir, "model_world_size_2_rank_"+rank+".pt")
				data, err := os.ReadFile(path)
				if err != nil || len(old) != len(new) || !bytes.Contains(data, []byte(old)) {
					t.Fatal(err, "no", old)
				}
				if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte(old), []byte(new)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, tc := range map[string]struct {
		damage func(t *testing.T, dir string)
		says   string
		is     error
	}{
		"a rank is missing": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "model_world_size_2_rank_1.pt")); err != nil {
				t.Fatal(err)
			}
		}, "missing model_world_size_2_rank_1.pt", nil},
		"a rank is cut short": {func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "model_world_size_2_rank_1.pt"), 5000); err != nil {
				t.Fatal(err)
			}
		}, "model_world_size_2_rank_1.pt: ", weights.ErrCorrupt},
		"a forbidden global":   {replaceShard("torch.serialization\n_get_layout", "os\nsystemxxxxxxxxxxxxxxxxxxxxxx"), `"os.system`, weights.ErrCorrupt},
		"an unknown placement": {replaceShard("placement_types\nShard", "placement_types\nShXrd"), "ShXrd", weights.ErrCorrupt},
		"a LoRA key":           {replaceShard("self_attn.q_proj.weight", "self_attn.q.lora_Aeight"), "q.lora_A", weights.ErrAdapter},
		"an unknown key":       {replaceShard("self_attn.q_proj.weight", "self_attn.x_proj.weight"), "x_proj", nil},
		"another shape":        {replaceConfig(`"intermediate_size": 12`, `"intermediate_size": 14`), "mlp.gate_proj.weight has shape", nil},
		"one layer more":       {replaceConfig(`"num_hidden_layers": 1`, `"num_hidden_layers": 2`), "model.layers.1.input_layernorm.weight is missing", nil},
		"no huggingface": {func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "huggingface")); err != nil {
				t.Fatal(err)
			}
		}, "no folder huggingface", nil},
		"no shards": {func(t *testing.T, dir string) {
			for _, rank := range []string{"0", "1"} {
				if err := os.Remove(filepath.Join(dir, "model_world_size_2_rank_"+rank+".pt")); err != nil {
					t.Fatal(err)
				}
			}
		}, "no model_world_size_W_rank_R.pt", nil},
		"a global shape that the parts do not make": {replaceShard("K\x15K\x08\x86", "K\x16K\x08\x86"), "tensor model.embed_tokens.weight: the parts have 21 of 22", nil},
		"tied and different": {func(t *testing.T, dir string) {
			for _, rank := range []string{"0", "1"} {
				name := "model_world_size_2_rank_" + rank + ".pt"
				copyInto(t, filepath.Join("testdata/fsdp/untied-2", name), filepath.Join(dir, name))
			}
		}, "they differ", weights.ErrTieBroken},
		"ranks of two models": {func(t *testing.T, dir string) {
			copyInto(t, "testdata/fsdp/by-hand-2/model_world_size_2_rank_1.pt", filepath.Join(dir, "model_world_size_2_rank_1.pt"))
		}, "rank 1 places it as", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := clone(t, "testdata/fsdp/fsdp2-2")
			tc.damage(t, dir)
			out, err := merge(t, dir, weights.MergeOptions{})
			if !errors.Is(err, weights.ErrBadCheckpoint) || !strings.Contains(err.Error(), tc.says) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Fatalf("%v; want %q", err, tc.says)
			}
			left, err := os.ReadDir(filepath.Dir(out))
			if err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestMergeKeepsWhatIsThere(t *testing.T) {
	out := t.TempDir()
	copyInto(t, "merge_test.go", filepath.Join(out, "mine"))
	_, err := weights.Merge(t.Context(), "testdata/fsdp/fsdp2-2", out, weights.MergeOptions{})
	if !errors.Is(err, weights.ErrBadCheckpoint) || !strings.Contains(err.Error(), "not empty") {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	empty := t.TempDir()
	if _, err := weights.Merge(ctx, "testdata/fsdp/fsdp2-2", empty, weights.MergeOptions{ShardBytes: 100}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := weights.Merge(t.Context(), "testdata/fsdp/fsdp2-2", empty, weights.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Even shards of files that changed their names would make a model of the right
// shapes and the wrong values.
func TestMergeRefusesExchangedRanks(t *testing.T) {
	for name, world := range map[string]string{"fsdp2-8": "8", "plain-mesh-2": "2", "hsdp-4": "4", "fsdp1-2": "2"} {
		dir := clone(t, filepath.Join("testdata/fsdp", name))
		for from, to := range map[string]string{"0": "1", "1": "0"} {
			stem := "model_world_size_" + world + "_rank_"
			copyInto(t, filepath.Join("testdata/fsdp", name, stem+from+".pt"), filepath.Join(dir, stem+to+".pt"))
		}
		_, err := merge(t, dir, weights.MergeOptions{})
		if !errors.Is(err, weights.ErrBadCheckpoint) || !strings.Contains(err.Error(), "the file of rank 0 holds what rank 1 saved") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An RL checkpoint keeps its shards one folder down.
func TestMergeActor(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "actor"), os.DirFS("testdata/fsdp/fsdp2-2")); err != nil {
		t.Fatal(err)
	}
	out, err := merge(t, dir, weights.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantSafetensors(t, out, "testdata/fsdp/whole.bf16.safetensors")
}

// Case 61: tied and equal is written once (TestMergeShards); tied and different
// may be untied by wish; not tied is written twice, whatever the values.
func TestMergeTies(t *testing.T) {
	open := func(dir string) *weights.Checkpoint {
		c, err := weights.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	out, err := merge(t, "testdata/fsdp/untied-2", weights.MergeOptions{Untie: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := open(out); c.Config().TieEmbeddings || !c.Has("lm_head.weight") || configOf(t, out)["tie_word_embeddings"] != false {
		t.Errorf("untied by wish: tie %v, head %v", c.Config().TieEmbeddings, c.Has("lm_head.weight"))
	}

	dir := clone(t, "testdata/fsdp/by-hand-2")
	path := filepath.Join(dir, "huggingface/config.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"tie_word_embeddings": true`), []byte(`"tie_word_embeddings": false`), 1)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err = merge(t, dir, weights.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	c := open(out)
	head, err := c.Tensor("lm_head.weight")
	if err != nil {
		t.Fatal(err)
	}
	embed, err := c.Tensor("model.embed_tokens.weight")
	if err != nil || !bytes.Equal(head.Data, embed.Data) {
		t.Errorf("not tied: %v, equal %v", err, bytes.Equal(head.Data, embed.Data))
	}
}
