package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/coderl/cr/runtime/weights"
)

// Identity tells the models that runs begin from apart.
type Identity struct {
	Path string `json:"path"` // for the reader: a model may be moved
	// Weights is a digest of all values; "" where nothing is to depend on them.
	Weights string `json:"weights,omitempty"`
	// Files are digests of the configuration, tokenizer and template, by name.
	Files map[string]string `json:"files,omitempty"`
}

// Identify identifies a model that is to be opened with options o. Its values are
// part of that where withWeights says so: all of them are read.
func Identify(ctx context.Context, path string, o Options, withWeights bool) (Identity, error) {
	id, err := identify(ctx, path, o, withWeights)
	id.Path = path
	if err != nil {
		return id, fmt.Errorf("identify %s: %w", path, err)
	}
	return id, nil
}

func identify(ctx context.Context, path string, o Options, withWeights bool) (id Identity, err error) {
	if o.Scratch {
		beside, err := weights.ReadSideFiles(path)
		if err == nil {
			id.Files, err = beside.Digests()
		}
		return id, err
	}
	c, err := weights.Open(path)
	if err != nil {
		return id, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	beside, err := sideFilesOf(c)
	if err != nil {
		return id, err
	}
	if id.Files, err = beside.Digests(); err != nil || !withWeights {
		return id, err
	}
	id.Weights, err = c.Digest(ctx)
	return id, err
}

// Differs names what of a model is another than in now: "weights", or a file's
// name; "" for nothing. What one of them does not know is not compared.
func (id Identity) Differs(now Identity) string {
	if id.Files == nil || now.Files == nil {
		return ""
	}
	if id.Weights != now.Weights {
		return "weights"
	}
	for _, files := range []map[string]string{id.Files, now.Files} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if id.Files[name] != now.Files[name] {
				return name
			}
		}
	}
	return ""
}
