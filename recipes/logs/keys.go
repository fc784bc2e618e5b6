package logs

import "strings"

// columns numbers the names of metrics in the order of first appearance.
type columns struct {
	names  []string
	number map[string]int32
}

func newColumns() *columns { return &columns{number: map[string]int32{}} }

func (c *columns) of(key string) int32 {
	n, known := c.number[key]
	if !known {
		n = int32(len(c.names))
		key = strings.Clone(key) // not the whole line it was cut from
		c.names = append(c.names, key)
		c.number[key] = n
	}
	return n
}

// isValidation says whether a metric belongs to a validation, by the prefixes
// that verl has had for them.
func isValidation(key string) bool {
	return strings.HasPrefix(key, "val-core/") || strings.HasPrefix(key, "val-aux/") || strings.HasPrefix(key, "val/")
}
