package weights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/runtime/model"
)

// sideFiles are what lies beside the weights of a model: its configuration,
// tokenizer, chat template. All but config.json are copied byte for byte.
type sideFiles struct {
	dir    string
	config []byte // of config.json, as it will be written
	others []string
}

// readSideFiles lists the folder, leaving out weights and what indexes them.
func readSideFiles(dir string) (sideFiles, error) {
	s := sideFiles{dir: dir}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return s, errors.New("no folder huggingface with the model's config.json and tokenizer beside the shards")
	}
	if err != nil {
		return s, err
	}
	for _, entry := range entries {
		name := entry.Name()
		weight := slices.Contains([]string{".safetensors", ".bin", ".pt", ".pth"}, filepath.Ext(name)) || strings.HasSuffix(name, ".index.json")
		if name != "config.json" && !weight && entry.Type().IsRegular() {
			s.others = append(s.others, name)
		}
	}
	var parsed map[string]json.RawMessage
	if err := readJSON(filepath.Join(dir, "config.json"), &parsed); err != nil {
		return s, err
	}
	s.config, err = os.ReadFile(filepath.Join(dir, "config.json"))
	return s, err
}

// model reads the configuration; nil for an architecture this program does not
// know, whose shapes then cannot be checked.
func (s sideFiles) model() (*model.Config, error) {
	c, err := readFolderConfig(s.dir)
	if errors.As(err, new(*UnsupportedArchitectureError)) {
		return nil, nil
	}
	return &c, err
}

// tied says whether the configuration ties the output projection.
func (s sideFiles) tied() (bool, error) {
	var config struct {
		Tie bool `json:"tie_word_embeddings"`
	}
	err := json.Unmarshal(s.config, &config)
	return config.Tie, err
}

// dtype is the element type that the configuration names: "bfloat16"; empty for
// none.
func (s sideFiles) dtype() (string, error) {
	var config struct {
		New string `json:"dtype"`
		Old string `json:"torch_dtype"`
	}
	err := json.Unmarshal(s.config, &config)
	if config.New != "" {
		return config.New, err
	}
	return config.Old, err
}

// setDType makes config.json agree with what is written, under the key it has.
func (s *sideFiles) setDType(name string) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(s.config, &keys); err != nil {
		return err
	}
	value, err := json.Marshal(name)
	if err != nil {
		return err
	}
	_, hasNew := keys["dtype"]
	if _, hasOld := keys["torch_dtype"]; hasOld || !hasNew {
		if err := s.set("torch_dtype", string(value)); err != nil || !hasNew {
			return err
		}
	}
	return s.set("dtype", string(value))
}

// set replaces a top-level value in config.json and leaves every other byte; a
// key that is not there is put first.
func (s *sideFiles) set(key, value string) error {
	decoder := json.NewDecoder(bytes.NewReader(s.config))
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("config.json: %w", err)
	}
	first := int(decoder.InputOffset())
	empty := !decoder.More()
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("config.json: %w", err)
		}
		var old json.RawMessage
		if err := decoder.Decode(&old); err != nil {
			return fmt.Errorf("config.json: %w", err)
		}
		if end := int(decoder.InputOffset()); name == key {
			s.config = slices.Concat(s.config[:end-len(old)], []byte(value), s.config[end:])
			return nil
		}
	}
	comma := ","
	if empty {
		comma = ""
	}
	s.config = slices.Concat(s.config[:first], fmt.Appendf(nil, "\n  %q: %s%s", key, value, comma), s.config[first:])
	return nil
}

// copyTo writes all files into a folder.
func (s sideFiles) copyTo(dir string) error {
	for _, name := range s.others {
		if err := atomicfile.Copy(filepath.Join(s.dir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "config.json"), s.config)
}
