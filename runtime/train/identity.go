package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/coderl/cr/runtime/weights"
)

// Identity tells the models that runs begin from apart.
type Identity struct {
	Path string // for the reader: a model may be moved
	// Weights is a digest of all values; "" where nothing is to depend on them.
	Weights string
	// Files are digests of the configuration, tokenizer and template, by name.
	Files map[string]string
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
