package reward

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/coderl/cr/recipes/preset"
)

// An executable that is not there is found out before a run begins.
func TestReachable(t *testing.T) {
	for own, want := range map[string]error{
		"": nil, "http://localhost:1": nil, "sh": nil,
		filepath.Join(t.TempDir(), "none"): ErrBroken, t.TempDir(): ErrBroken,
	} {
		if err := Reachable(preset.Reward{Own: own}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", own, err, want)
		}
	}
}
