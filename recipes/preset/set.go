package preset

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Set applies settings "key=value" to a recipe's struct, in their order.
func Set[R any](recipe *R, settings []string) error {
	return setAll(reflect.ValueOf(recipe).Elem(), settings)
}

func setAll(v reflect.Value, settings []string) error {
	for _, setting := range settings {
		if err := set(v, setting); err != nil {
			return fmt.Errorf("setting %s: %w", setting, err)
		}
	}
	return nil
}

// set applies one "key=value" of the command line to the recipe v.
func set(v reflect.Value, setting string) error {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		return errors.New("want key=value")
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	section, field, err := locate(v, key)
	if err != nil {
		return err
	}
	target := section.FieldByIndex(field.Index)
	if inner := structOf(field.Type); inner.Kind() == reflect.Struct {
		return fmt.Errorf("%s is a section: set one of its keys, %s", key, strings.Join(keysOf(inner), ", "))
	}
	if target.Kind() == reflect.String && field.Tag.Get("enum") == "" {
		target.SetString(value) // as it is: a path may hold what means something to YAML
		return nil
	}
	node, err := parse([]byte(value))
	if err != nil {
		return wrongText(value, field, key)
	}
	err = decodeField(node, target, field, key)
	var placed *lineError
	if errors.As(err, &placed) {
		return placed.err // a setting has but one line
	}
	return err
}

// locate finds the section and the field of a dotted key. An optional section
// that is not there yet begins with its defaults.
func locate(v reflect.Value, key string) (reflect.Value, reflect.StructField, error) {
	prefix := ""
	for {
		step, rest, deeper := strings.Cut(key, ".")
		field, err := fieldNamed(v.Type(), prefix, step)
		if err != nil || !deeper {
			return v, field, err
		}
		if structOf(field.Type).Kind() != reflect.Struct {
			return v, field, fmt.Errorf("no key %s%s: %s%s has no keys below it", prefix, key, prefix, step)
		}
		if v, err = opened(v.FieldByIndex(field.Index)); err != nil {
			return v, field, err
		}
		prefix, key = prefix+step+".", rest
	}
}

// structOf is the type behind an optional section's pointer.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// opened is the value behind an optional section's pointer, made where absent.
func opened(v reflect.Value) (reflect.Value, error) {
	if v.Kind() != reflect.Pointer {
		return v, nil
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
		if err := setDefaults(v.Elem()); err != nil {
			return v, err
		}
	}
	return v.Elem(), nil
}

// setDefaults fills a section with what its fields' tags say.
func setDefaults(v reflect.Value) error {
	for f := range fieldsOf(v.Type()) {
		target := v.FieldByIndex(f.Index)
		if target.Kind() == reflect.Struct {
			if err := setDefaults(target); err != nil {
				return err
			}
			continue
		}
		text := f.Tag.Get("default")
		if text == "" {
			continue
		}
		node, err := parse([]byte(text))
		if err != nil {
			return fmt.Errorf("default of %s: %w", keyOf(f), err)
		}
		if err := decodeField(node, target, f, keyOf(f)); err != nil {
			return fmt.Errorf("default of %s: %w", keyOf(f), err)
		}
	}
	return nil
}
