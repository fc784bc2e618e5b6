package weights

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/coderl/cr/runtime/model"
)

// maxWorld bounds the number of ranks.
const maxWorld = 1 << 14

var shardName = regexp.MustCompile(`^model_world_size_(\d{1,5})_rank_(\d{1,5})\.pt$`)

// findShards returns the folder with the shards, dir or its actor (verl's RL
// checkpoints), and their paths by rank.
func findShards(dir string) (string, []string, error) {
	for _, folder := range []string{dir, filepath.Join(dir, "actor")} {
		world, err := worldSize(folder)
		if err != nil {
			return "", nil, err
		}
		if world == 0 {
			continue
		}
		paths := make([]string, world)
		for rank := range paths {
			name := fmt.Sprintf("model_world_size_%d_rank_%d.pt", world, rank)
			paths[rank] = filepath.Join(folder, name)
			if _, err := os.Stat(paths[rank]); err != nil {
				return "", nil, &MissingShardError{Shard: name}
			}
		}
		return folder, paths, nil
	}
	return "", nil, fmt.Errorf("no model_world_size_W_rank_R.pt in it, nor in its actor")
}

// worldSize is the number of ranks: what fsdp_config.json says, else what the
// files' names do. 0: no shards here.
func worldSize(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, nil // no such folder
	}
	found := 0
	for _, entry := range entries {
		m := shardName.FindStringSubmatch(entry.Name())
		if m == nil {
			continue
		}
		world, err := strconv.Atoi(m[1])
		if err != nil || world < 1 || world > maxWorld {
			return 0, fmt.Errorf("%s: not a number of ranks", entry.Name())
		}
		if found != 0 && world != found {
			found = -1
			break
		}
		found = world
	}
	var config struct {
		WorldSize int `json:"world_size"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "fsdp_config.json"))
	if err == nil && found != 0 && json.Unmarshal(data, &config) == nil && config.WorldSize > 0 && config.WorldSize <= maxWorld {
		return config.WorldSize, nil
	}
	if found < 0 {
		return 0, fmt.Errorf("shards of several world sizes, and no fsdp_config.json that chooses")
	}
	return found, nil
}

// plainName takes off what wrappers put into a name.
func plainName(name string) string {
	for _, wrapper := range []string{"_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module."} {
		name = strings.ReplaceAll(name, wrapper, "")
	}
	return name
}

// isAdapter recognises the names that peft gives.
func isAdapter(name string) bool {
	return strings.HasPrefix(name, "base_model.") || strings.Contains(name, ".lora_") || strings.Contains(name, ".base_layer.") ||
		strings.Contains(name, "modules_to_save") || strings.Contains(name, "adapter")
}

// decoderNames lists every tensor that a configuration calls for; biases are
// left to whoever loads the model.
func decoderNames(c model.Config) []string {
	names := []string{embeddings, "model.norm.weight"}
	if !c.TieEmbeddings {
		names = append(names, outputHead)
	}
	parts := []string{
		"input_layernorm", "post_attention_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
		"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
	}
	if c.Arch == model.Qwen3 {
		parts = append(parts, "self_attn.q_norm", "self_attn.k_norm")
	}
	for layer := range c.Layers {
		for _, part := range parts {
			names = append(names, fmt.Sprintf("model.layers.%d.%s.weight", layer, part))
		}
	}
	return names
}
