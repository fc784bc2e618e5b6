package weights

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
)

// write makes the model's folder beside its place and moves it there whole.
func (m *merger) write(ctx context.Context, tensors []joined, out string) (Merged, error) {
	if err := emptyOrAbsent(out); err != nil {
		return Merged{}, err
	}
	var merged Merged
	err := intoFolder(out, func(dir string) (err error) {
		merged, err = m.fill(ctx, tensors, dir)
		return err
	})
	if err != nil {
		return Merged{}, err
	}
	merged.Dir = out
	return merged, nil
}

// fill writes the model into a folder and opens it as a reader would.
func (m *merger) fill(ctx context.Context, tensors []joined, dir string) (Merged, error) {
	merged := Merged{Ranks: len(m.ranks), Tensors: len(tensors)}
	sources := make([]source, len(tensors))
	for i, j := range tensors {
		to, err := m.elementType(j.dtype)
		if err != nil {
			return merged, refusal{err}
		}
		sources[i] = j.source(to)
		merged.Bytes += int64(sources[i].bytes())
		merged.DType = to.String()
	}
	if err := m.side.setDType(torchName(sources)); err != nil {
		return merged, refusal{err}
	}
	groups := group(sources, cmp.Or(m.options.ShardBytes, defaultShardBytes))
	merged.Files = len(groups)
	if err := writeModel(ctx, dir, groups, merged.Bytes); err != nil {
		return merged, err
	}
	if err := m.side.copyTo(dir); err != nil {
		return merged, err
	}
	if m.config == nil {
		return merged, CheckFolder(dir, false)
	}
	c, err := Open(dir)
	if err != nil {
		return merged, fmt.Errorf("the model just written: %w", err)
	}
	return merged, c.Close()
}

// torchName is torch's name for the type of most bytes.
func torchName(sources []source) string {
	bytes := map[string]int{}
	most := "BF16"
	for _, s := range sources {
		bytes[s.Type] += s.bytes()
		if bytes[s.Type] > bytes[most] {
			most = s.Type
		}
	}
	switch most {
	case "F32":
		return "float32"
	case "F16":
		return "float16"
	default:
		return "bfloat16"
	}
}

// group puts tensors, in order, into files of at most limit bytes; a larger one
// gets a file of its own.
func group(sources []source, limit int64) [][]source {
	var groups [][]source
	size := int64(0)
	for _, s := range sources {
		n := int64(s.bytes())
		if len(groups) == 0 || size+n > limit {
			groups, size = append(groups, nil), 0
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], s)
		size += n
	}
	return groups
}

// writeModel writes one file, or several and their index.
func writeModel(ctx context.Context, dir string, groups [][]source, total int64) error {
	if len(groups) == 1 {
		return writeSafetensors(filepath.Join(dir, singleFile), groups[0])
	}
	index := struct {
		Metadata  map[string]int64  `json:"metadata"`
		WeightMap map[string]string `json:"weight_map"`
	}{map[string]int64{"total_size": total}, map[string]string{}}
	for i, g := range groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(groups))
		if err := writeSafetensors(filepath.Join(dir, name), g); err != nil {
			return err
		}
		for _, s := range g {
			index.WeightMap[s.Name] = name
		}
	}
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, indexFile), data)
}
