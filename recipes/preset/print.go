package preset

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// YAML writes a whole recipe, defaults included; it reads back as the same.
func YAML(recipe any) ([]byte, error) {
	text, err := yaml.MarshalWithOptions(recipe, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("write the recipe as YAML: %w", err)
	}
	return text, nil
}
