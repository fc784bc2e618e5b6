package preset

import (
	"fmt"
	"reflect"
)

// Change is a key whose value two recipes differ in.
type Change struct {
	Key      string
	Old, New string
}

// Changes lists the keys that decide a run's results and differ between two
// recipes of one kind: those that a run cannot be resumed with.
func Changes[R any](old, new R) []Change {
	var all []Change
	compare(reflect.ValueOf(old), reflect.ValueOf(new), "", &all)
	return all
}

func compare(old, new reflect.Value, prefix string, all *[]Change) {
	for f := range fieldsOf(old.Type()) {
		key := prefix + keyOf(f)
		a, b := old.FieldByIndex(f.Index), new.FieldByIndex(f.Index)
		if a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil() {
			a, b = a.Elem(), b.Elem()
		}
		switch {
		case a.Kind() == reflect.Struct:
			compare(a, b, key+".", all)
		case f.Tag.Get("resume") != "free" && !reflect.DeepEqual(a.Interface(), b.Interface()):
			*all = append(*all, Change{Key: key, Old: shown(a), New: shown(b)})
		}
	}
}

// shown is a value as a message has it.
func shown(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "none"
		}
		return "given"
	}
	if text := fmt.Sprint(v.Interface()); text != "" {
		return text
	}
	return "empty"
}
