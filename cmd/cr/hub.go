package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/coderl/cr/datasets/hub"
)

// hubFlags are the hub's settings that huggingface_hub takes from the
// environment.
type hubFlags struct {
	HubEndpoint         string `hidden:"" env:"HF_ENDPOINT" name:"hf-endpoint"`
	HubToken            string `hidden:"" env:"HF_TOKEN" name:"hf-token"`
	HubTokenPath        string `hidden:"" env:"HF_TOKEN_PATH" name:"hf-token-path"`
	HubOffline          string `hidden:"" env:"HF_HUB_OFFLINE" name:"hf-hub-offline"`
	TransformersOffline string `hidden:"" env:"TRANSFORMERS_OFFLINE" name:"transformers-offline"`
}

// offline follows huggingface_hub in what counts as yes.
func (f hubFlags) offline() bool {
	switch strings.ToUpper(cmp.Or(f.HubOffline, f.TransformersOffline)) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

// token is HF_TOKEN, else what a login left beside the cache.
func (f cacheFlags) token() string {
	if f.HubToken != "" {
		return f.HubToken
	}
	path := f.HubTokenPath
	if path == "" {
		home, err := f.home()
		if err != nil {
			return ""
		}
		path = filepath.Join(home, "token")
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		return "" // nobody logged in
	}
	return strings.TrimSpace(string(kept))
}

// home is the folder of all that huggingface_hub keeps.
func (f cacheFlags) home() (string, error) {
	switch {
	case f.HFHome != "":
		return f.HFHome, nil
	case f.XDGCache != "":
		return filepath.Join(f.XDGCache, "huggingface"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the hub's cache: %w (set HF_HOME)", err)
	}
	return filepath.Join(home, ".cache", "huggingface"), nil
}

// client returns a hub client as the environment wants it; set changes options.
func (f cacheFlags) client(c *console, set func(*hub.Options)) (*hub.Client, error) {
	o := hub.Options{
		Endpoint: f.HubEndpoint, Token: f.token(), Offline: f.offline(),
		UserAgent: "cr/" + version, Log: c.log,
	}
	if set != nil {
		set(&o)
	}
	client, err := hub.New(o)
	return client, badInput(err)
}

// fetched returns a repository's folder in the cache, after fetching the files
// it lacks. Offline, or where the hub cannot be reached, what is not cached is
// [hub.ErrNotCached].
func (f cacheFlags) fetched(ctx context.Context, c *console, r hub.Repo, want hub.Selection) (string, error) {
	root, err := f.hubCache()
	if err != nil {
		return "", err
	}
	dir, err := hub.Cached(root, r, want)
	if !errors.Is(err, hub.ErrNotCached) || f.offline() {
		return dir, err
	}
	client, err := f.client(c, nil)
	if err != nil {
		return "", err
	}
	defer client.Close()
	plan, err := client.Plan(ctx, r, hub.InCache(root), want)
	if err != nil {
		return "", fmt.Errorf("%w (%s), nor can it be downloaded: %w", hub.ErrNotCached, root, explainHub(err))
	}
	if _, need := plan.Bytes(); need > 0 {
		c.note("%s is not in the cache: downloading %s into %s", r.Name, humanBytes(need), root)
	}
	if _, err := runPlan(ctx, c, client, plan); err != nil {
		return "", explainHub(err)
	}
	return plan.Target.Dir(plan.Listing), nil
}

// explainHub adds the flag or variable that mends an error.
func explainHub(err error) error {
	switch {
	case errors.Is(err, hub.ErrGated), errors.Is(err, hub.ErrPrivate), errors.Is(err, hub.ErrBadToken):
		return fmt.Errorf("%w (cr download --token, or HF_TOKEN)", err)
	case errors.Is(err, hub.ErrUntrusted):
		return fmt.Errorf("%w (cr download --trust)", err)
	}
	return err
}

// runPlan fetches what a plan lacks, with its bars.
func runPlan(ctx context.Context, c *console, client *hub.Client, plan hub.Plan) ([]hub.Result, error) {
	_, need := plan.Bytes()
	bars := newTransferBars(c, need)
	results, err := client.Run(ctx, plan, bars.event)
	bars.end()
	if err != nil && ctx.Err() != nil {
		c.note("what was received is kept; the same command goes on from there")
	}
	return results, err
}
