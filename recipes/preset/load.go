// Package preset reads training recipes: short YAML files, shipped inside cr or
// the user's own, with settings from the command line on top. The schema is the
// struct of each kind of recipe; its tags carry names, defaults, limits and the
// words of the documentation.
package preset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/coderl/cr/recipes"
)

// mostBytes bounds a recipe file: a slip such as --recipe model.safetensors is
// told apart from YAML before it is read.
const mostBytes = 64 << 10

// ErrKind is wrapped by the errors about a recipe of another kind.
var ErrKind = errors.New("another kind of recipe")

// LoadSFT reads a recipe of supervised fine-tuning: an embedded preset's name or
// a file, then settings "key=value" in their order. Errors say what to change.
func LoadSFT(name string, settings []string) (SFT, error) {
	var r SFT
	if err := load(name, settings, "sft", reflect.ValueOf(&r).Elem()); err != nil {
		return SFT{}, err
	}
	return r, nil
}

// LoadRL reads a recipe of reinforcement learning, as LoadSFT does its own.
func LoadRL(name string, settings []string) (RL, error) {
	var r RL
	if err := load(name, settings, "rl", reflect.ValueOf(&r).Elem()); err != nil {
		return RL{}, err
	}
	return r, nil
}

// Names lists the embedded presets of a kind.
func Names(kind string) ([]string, error) {
	files, err := fs.Glob(recipes.Presets(), "*.yaml")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		text, err := fs.ReadFile(recipes.Presets(), file)
		if err != nil {
			return nil, err
		}
		if kindOf(text) == kind {
			names = append(names, strings.TrimSuffix(file, ".yaml"))
		}
	}
	return names, nil
}

// load fills the recipe struct v.
func load(name string, settings []string, kind string, v reflect.Value) error {
	if err := setDefaults(v); err != nil {
		return err
	}
	text, err := read(name, kind)
	if err != nil {
		return err
	}
	if k := kindOf(text); k != "" && k != kind {
		return fmt.Errorf("recipe %s is of kind %s, not %s: %w", name, k, kind, ErrKind)
	}
	root, err := parse(text)
	if err == nil {
		err = decodeSection(root, v, "")
	}
	if err != nil {
		return fmt.Errorf("recipe %s: %w", name, err)
	}
	if err := setAll(v, settings); err != nil {
		return err
	}
	if v.FieldByName("Kind").String() == "" {
		return fmt.Errorf("recipe %s: no key kind: write kind: %s", name, kind)
	}
	return nil
}

// read returns an embedded preset, or a file where the name is no preset's.
func read(name, kind string) ([]byte, error) {
	if text, err := fs.ReadFile(recipes.Presets(), name+".yaml"); err == nil && path.Base(name) == name {
		return text, nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRecipe(name, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	if info.Size() > mostBytes || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("recipe %s is not a small YAML file", name)
	}
	return os.ReadFile(name)
}

func noRecipe(name, kind string) error {
	names, err := Names(kind)
	if err != nil {
		return err
	}
	hint := ""
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return fmt.Errorf("no recipe %s: there is no such file, and the presets are %s%s", name, strings.Join(names, ", "), hint)
}

// kindOf is the recipe's kind, "" where it does not say.
func kindOf(text []byte) string {
	var head struct {
		Kind string `yaml:"kind"`
	}
	// What is wrong with the text is said when it is decoded.
	_ = yaml.Unmarshal(text, &head)
	return head.Kind
}
