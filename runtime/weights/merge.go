package weights

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/coderl/cr/internal/mapfile"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// MergeOptions choose how a training checkpoint becomes a model.
type MergeOptions struct {
	// DType is the element type of what is written: bf16, f32, file (as the
	// shards have it), or empty for what config.json says, bf16 if nothing.
	DType string
	// Untie writes lm_head.weight, and says so in config.json, where a model that
	// ties it to the embeddings has two that differ; without, that is refused.
	Untie bool
	// ShardBytes bounds a file of the result; 0: 5 GB, as transformers has it.
	ShardBytes int64
}

// Merged says what a merge did.
type Merged struct {
	Dir     string `json:"dir"`
	Ranks   int    `json:"ranks"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
	DType   string `json:"dtype"`
	Files   int    `json:"files"`
}

// Errors of a merge that a message alone would not tell apart.
var (
	// ErrAdapter: the checkpoint holds a LoRA or another adapter beside the model.
	ErrAdapter = errors.New("an adapter's weights: merge the adapter into the model before saving, or train without one")
	// ErrTieBroken: the configuration ties two tensors that differ.
	ErrTieBroken = errors.New("config.json ties lm_head.weight to model.embed_tokens.weight, but they differ")
)

// defaultShardBytes is transformers' max_shard_size.
const defaultShardBytes = 5_000_000_000

// Merge makes a model in Hugging Face layout of an FSDP checkpoint: a folder, as
// verl writes it, with model_world_size_W_rank_R.pt for every rank and the
// model's other files under huggingface. Tensors are joined by the placements
// that each shard carries, never by comparing values. The folder out appears
// whole or not at all; it must not exist, or be empty.
func Merge(ctx context.Context, dir, out string, o MergeOptions) (Merged, error) {
	m := &merger{options: o}
	merged, err := m.run(ctx, dir, out)
	err = errors.Join(err, m.close())
	if err != nil {
		return Merged{}, fmt.Errorf("merge %s: %w", dir, err)
	}
	return merged, nil
}

// merger is one merge under way.
type merger struct {
	options MergeOptions
	files   []*mapfile.File
	ranks   []map[string]named // by rank
	order   []string           // names, as rank 0 has them
	config  *model.Config      // nil for an architecture this program does not know
	side    sideFiles
}

func (m *merger) close() error {
	var errs []error
	for _, f := range m.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (m *merger) run(ctx context.Context, dir, out string) (Merged, error) {
	dir, shards, err := findShards(dir)
	if err != nil {
		return Merged{}, refusal{err}
	}
	if m.side, err = readSideFiles(filepath.Join(dir, "huggingface")); err != nil {
		return Merged{}, refusal{err}
	}
	if m.config, err = m.side.model(); err != nil {
		return Merged{}, refusal{err}
	}
	for _, path := range shards {
		if err := m.load(path); err != nil {
			return Merged{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	tensors, err := m.tensors()
	if err != nil {
		return Merged{}, refusal{err}
	}
	return m.write(ctx, tensors, out)
}

// load maps and reads one rank's shard.
func (m *merger) load(path string) error {
	file, err := mapfile.Open(path)
	if errors.Is(err, mapfile.ErrNotFile) {
		return refusal{err}
	}
	if err != nil {
		return err
	}
	m.files = append(m.files, file)
	all, err := readStateDict(file.Data)
	if err != nil {
		return refusal{err}
	}
	shard := map[string]named{}
	for _, n := range all {
		n.name = plainName(n.name)
		if _, twice := shard[n.name]; twice {
			return refusal{&DuplicateTensorError{Tensor: n.name, First: "the shard", Second: "the shard"}}
		}
		shard[n.name] = n
		if len(m.ranks) == 0 {
			m.order = append(m.order, n.name)
		}
	}
	m.ranks = append(m.ranks, shard)
	return nil
}

// tensors joins every name of the checkpoint.
func (m *merger) tensors() ([]joined, error) {
	if err := m.sameNames(); err != nil {
		return nil, err
	}
	var all []joined
	for _, name := range m.order {
		if err := m.known(name); err != nil {
			return nil, err
		}
		j, err := m.join(name)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		if want := m.wanted(name); want != nil && !slices.Equal(want, j.shape) {
			return nil, &ShapeError{Tensor: name, Want: want, Got: j.shape}
		}
		all = append(all, j)
	}
	all, err := m.settleTie(all)
	if err != nil {
		return nil, err
	}
	return all, m.complete(all)
}

// sameNames checks that all ranks hold the same tensors.
func (m *merger) sameNames() error {
	for rank, shard := range m.ranks {
		for _, name := range m.order {
			if _, ok := shard[name]; !ok {
				return fmt.Errorf("rank %d: %w", rank, &MissingTensorError{Tensor: name})
			}
		}
		if len(shard) != len(m.order) {
			for name := range shard {
				if !slices.Contains(m.order, name) {
					return fmt.Errorf("rank 0: %w, which rank %d has", &MissingTensorError{Tensor: name}, rank)
				}
			}
		}
	}
	return nil
}

// known refuses what would be lost in silence: adapters, and names that the
// configuration's architecture does not have.
func (m *merger) known(name string) error {
	if isAdapter(name) {
		return fmt.Errorf("tensor %s: %w", name, ErrAdapter)
	}
	if m.config != nil && m.wanted(name) == nil {
		return fmt.Errorf("tensor %s: %s has no such tensor", name, m.config.Arch)
	}
	return nil
}

// wanted is the shape that the configuration implies; nil if it does not say.
func (m *merger) wanted(name string) []int {
	if m.config == nil {
		return nil
	}
	return decoderShape(name, *m.config)
}

// complete checks that no tensor of the configuration is missing.
func (m *merger) complete(all []joined) error {
	if m.config == nil {
		return nil
	}
	have := map[string]bool{}
	for _, j := range all {
		have[j.name] = true
	}
	for _, name := range decoderNames(*m.config) {
		if !have[name] {
			return &MissingTensorError{Tensor: name}
		}
	}
	return nil
}

// settleTie leaves out an output projection that is the embeddings.
func (m *merger) settleTie(all []joined) ([]joined, error) {
	tied, err := m.side.tied()
	if err != nil || !tied {
		return all, err
	}
	at := func(name string) int { return slices.IndexFunc(all, func(j joined) bool { return j.name == name }) }
	head, embed := at(outputHead), at(embeddings)
	switch {
	case head < 0:
		return all, nil
	case embed < 0:
		all[head].name = embeddings
		return all, nil
	}
	same, err := equalValues(all[head], all[embed])
	switch {
	case err != nil:
		return nil, err
	case same:
		return slices.Delete(all, head, head+1), nil
	case m.options.Untie:
		if m.config != nil {
			m.config.TieEmbeddings = false
		}
		return all, m.side.set("tie_word_embeddings", "false")
	}
	return nil, ErrTieBroken
}

// elementType is what a tensor of type have is written as.
func (m *merger) elementType(have tensor.DType) (tensor.DType, error) {
	want, err := m.side.dtype()
	if err != nil {
		return 0, err
	}
	switch cmp.Or(m.options.DType, want, "bf16") {
	case "file":
		return have, nil
	case "f32", "float32":
		return tensor.F32, nil
	case "bf16", "bfloat16":
		return tensor.BF16, nil
	case "float16":
		if have == tensor.F16 {
			return have, nil
		}
	}
	return 0, fmt.Errorf("config.json asks for %s, which is not written: choose bf16, f32 or file", want)
}

// emptyOrAbsent checks the place of the result before any work.
func emptyOrAbsent(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return refusal{fmt.Errorf("%s is not empty: choose another folder for the model", out)}
	}
	return nil
}
