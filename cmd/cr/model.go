package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/coderl/cr/datasets/hub"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/shipped"
)

// defaultModel is used when neither --model nor CR_MODEL names one.
const defaultModel = "hub:Qwen/Qwen3-1.7B"

// mostThreads and mostSequences bound what a slip of the key may ask of the
// machine: each thread and each sequence that runs at once takes memory at start.
const (
	mostThreads   = 1024
	mostSequences = 1024
)

// cacheFlags say where the hub's cache is, and how to reach the hub, as
// huggingface_hub decides it.
type cacheFlags struct {
	HubCache string `hidden:"" env:"HF_HUB_CACHE"`
	HFHome   string `hidden:"" env:"HF_HOME" name:"hf-home"`
	XDGCache string `hidden:"" env:"XDG_CACHE_HOME" name:"xdg-cache"`

	hubFlags `embed:""`
}

// hubCache returns the folder that holds models--ORG--NAME.
func (f cacheFlags) hubCache() (string, error) {
	if f.HubCache != "" {
		return f.HubCache, nil
	}
	home, err := f.home()
	return filepath.Join(home, "hub"), err
}

// modelFlags choose the embedded engine's model.
type modelFlags struct {
	Model   string `env:"CR_MODEL" placeholder:"MODEL" help:"A folder in Hugging Face layout, a .gguf file, hub:ORG/NAME[@REV], or one shipped inside cr: tiny, tiny-rl (default: hub:Qwen/Qwen3-1.7B)."`
	Threads int    `help:"Compute threads (default: one a core)."`
	DType   string `name:"dtype" enum:"file,f32,bf16" default:"file" help:"Keep weights as in the file, or convert them: file, f32, bf16."`

	Cache cacheFlags `embed:""`
}

// path returns the model's folder or file on this machine; a hub model that is
// not in the cache is downloaded.
func (f modelFlags) path(ctx context.Context, c *console) (string, error) {
	name := cmp.Or(f.Model, defaultModel)
	if shipped.Has(shipped.FS(), name) {
		return f.Cache.unpacked(name)
	}
	repo, isHub := strings.CutPrefix(name, "hub:")
	if !isHub {
		if _, err := os.Stat(name); err != nil {
			return "", usagef("model %s: no such folder or file, and none of that name is shipped inside cr (%s); a model of the hub is written hub:ORG/NAME", name, shippedModels())
		}
		if !exists(name, "config.json") {
			if steps, err := checkpoint.Steps(name); err == nil && len(steps) > 0 {
				return "", usagef("model %s: a training run; name one of its checkpoints, such as %s", name, filepath.Join(name, fmt.Sprintf("global_step_%d", steps[len(steps)-1])))
			}
		}
		return name, nil
	}
	r, err := hub.Parse(hub.Models, repo)
	if err != nil {
		return "", badInput(fmt.Errorf("--model hub:%w", err))
	}
	dir, err := f.Cache.fetched(ctx, c, r, hub.Selection{})
	if errors.Is(err, hub.ErrNotCached) {
		return "", fmt.Errorf("model %s: %w: name a folder, a .gguf file or a shipped model (%s) with --model, fetch it where there is a network (cr download %s), or have cr eval ask a server with --endpoint", name, err, shippedModels(), r.Name)
	}
	return dir, err
}

// shippedModels lists the models inside the program for a message.
func shippedModels() string {
	names, err := shipped.Names(shipped.FS())
	if err != nil {
		return err.Error()
	}
	return strings.Join(names, ", ")
}

// unpacked returns the folder of a model that ships inside the program.
func (f cacheFlags) unpacked(name string) (string, error) {
	cache := f.XDGCache
	if cache == "" {
		var err error
		if cache, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("model %s: no folder to unpack it in: %w; set XDG_CACHE_HOME", name, err)
		}
	}
	return shipped.Unpack(shipped.FS(), name, filepath.Join(cache, "cr", "models"))
}

// open loads the engine.
func (f modelFlags) open(ctx context.Context, c *console, batch int) (*runtime.Engine, error) {
	path, err := f.path(ctx, c)
	if err != nil {
		return nil, err
	}
	c.log.Debug("loading the model", "path", path)
	engine, err := runtime.Open(ctx, path, runtime.Options{Device: "cpu", Threads: f.Threads, DType: f.DType, MaxBatch: batch})
	if err != nil {
		return nil, err
	}
	for _, notice := range engine.Notices() {
		c.once("note: %s", notice)
	}
	return engine, nil
}

// Validate is called by Kong after parsing.
func (f modelFlags) Validate() error {
	if f.Threads < 0 || f.Threads > mostThreads {
		return fmt.Errorf("--threads %d: want 1 to %d", f.Threads, mostThreads)
	}
	return nil
}

// samplingFlags are the ones every generating command shares.
type samplingFlags struct {
	Temperature       float64 `default:"0.6" help:"Sampling temperature; 0 is greedy."`
	TopP              float64 `default:"0.95" help:"Keep the smallest set of tokens whose probability reaches this."`
	TopK              int     `default:"0" help:"Keep the K most likely tokens; 0 keeps all."`
	MinP              float64 `default:"0" help:"Drop tokens below this share of the likeliest one's probability."`
	RepetitionPenalty float64 `default:"1" help:"Divide the logits of tokens already seen by this; 1 does nothing."`
	Seed              uint64  `default:"0" help:"Seed; equal seeds give equal text whatever the batch."`
}

// Validate is called by Kong after parsing.
func (f samplingFlags) Validate() error {
	switch {
	case !(f.Temperature >= 0) || f.Temperature > 100:
		return fmt.Errorf("--temperature %v: want 0 to 100", f.Temperature)
	case !(f.TopP > 0 && f.TopP <= 1):
		return fmt.Errorf("--top-p %v: want above 0, at most 1", f.TopP)
	case f.TopK < 0:
		return fmt.Errorf("--top-k %d: want 0 or more", f.TopK)
	case !(f.MinP >= 0 && f.MinP <= 1):
		return fmt.Errorf("--min-p %v: want 0 to 1", f.MinP)
	case !(f.RepetitionPenalty > 0) || math.IsInf(f.RepetitionPenalty, 1):
		return fmt.Errorf("--repetition-penalty %v: want above 0", f.RepetitionPenalty)
	}
	return nil
}
