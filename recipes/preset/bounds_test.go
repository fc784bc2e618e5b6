package preset

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// Every number of a recipe has an end, and survives the arithmetic of the devices,
// which is float32: what is above 0 here is not 0 there.
func TestNumbersSurviveFloat32(t *testing.T) {
	kept := func(v float64) bool { return v == 0 || float32(v) != 0 && !math.IsInf(float64(float32(v)), 0) }
	for kind, load := range map[string]func(string) (any, error){
		"sft": func(s string) (any, error) { return LoadSFT("toolcall-sft", []string{s}) },
		"rl":  func(s string) (any, error) { return LoadRL("code-rl", []string{s}) },
	} {
		var recipe any = SFT{}
		if kind == "rl" {
			recipe = RL{}
		}
		for _, f := range Fields(recipe) {
			if f.Type != "number" || strings.HasPrefix(f.Key, "model.new.") {
				continue
			}
			for _, v := range []float64{1e-320, 1e-300, 1e-46, 1e39, 1e300} {
				if _, err := load(fmt.Sprintf("%s=%g", f.Key, v)); err == nil && divides(f.Key) && !kept(v) {
					t.Errorf("%s, %s: takes %g, which float32 does not hold", kind, f.Key, v)
				}
			}
			for _, text := range []string{"nan", ".nan", ".inf", "-.inf", "1e999", "true", "[1]", "x", "''", "0x10", "-1e-9"} {
				if _, err := load(f.Key + "=" + text); err == nil && text != "0x10" {
					t.Errorf("%s: %s takes %s", kind, f.Key, text)
				} else if err != nil && (!strings.Contains(err.Error(), f.Key) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s, %s=%s: %v", kind, f.Key, text, err)
				}
			}
		}
	}
}

// divides tells the keys that something is divided by, or that scale activations.
func divides(key string) bool {
	switch key {
	case "optim.eps", "rollout.temperature", "model.lora.alpha":
		return true
	}
	return false
}

// Whole numbers at their ends are taken as they are, and refused beyond.
func TestWholeNumbersAtTheirEnds(t *testing.T) {
	for f := range fieldsOf(reflect.TypeFor[Rollout]()) {
		key := "rollout." + keyOf(f)
		for tag, beyond := range map[string]string{"min": "-9223372036854775808", "max": "9223372036854775807"} {
			limit := f.Tag.Get(tag)
			if f.Type.Kind() != reflect.Int || limit == "" {
				continue
			}
			if _, err := LoadRL("code-rl", []string{key + "=" + limit}); err != nil {
				t.Errorf("%s=%s: %v", key, limit, err)
			}
			for _, wrong := range []string{beyond, "1.5", "99999999999999999999"} {
				if _, err := LoadRL("code-rl", []string{key + "=" + wrong}); err == nil {
					t.Errorf("%s takes %s", key, wrong)
				}
			}
		}
	}
}
