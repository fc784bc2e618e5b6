package checkpoint

import (
	"maps"
	"slices"
)

// Base tells the models that runs begin from apart.
type Base struct {
	Path string `json:"path"` // for the reader: a model may be moved
	// Weights is a digest of all values; "" where nothing is to depend on them.
	Weights string `json:"weights,omitempty"`
	// Files are digests of the configuration, tokenizer and template, by name.
	Files map[string]string `json:"files,omitempty"`
}

// Differs names what of a model is another than in now: "weights", or a file's
// name; "" for nothing. What one of them does not know is not compared.
func (b Base) Differs(now Base) string {
	if b.Files == nil || now.Files == nil {
		return ""
	}
	if b.Weights != now.Weights {
		return "weights"
	}
	for _, files := range []map[string]string{b.Files, now.Files} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if b.Files[name] != now.Files[name] {
				return name
			}
		}
	}
	return ""
}
