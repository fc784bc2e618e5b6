package judge

import "fmt"

// Validate says why a test cannot be judged as a call of method: an input line
// or the expected output that is not JSON. Without a method every text will do.
func (t Test) Validate(method string) error {
	if method == "" {
		return nil
	}
	if _, err := arguments(t.Input); err != nil {
		return err
	}
	if _, err := parseValue(t.Output); err != nil {
		return fmt.Errorf("expected output: %w", err)
	}
	return nil
}
