package judge

import (
	"encoding/json"
	"os"
	"testing"
)

// golden is what CPython says; see testdata/published.py.
type golden struct {
	Texts, Values []goldenPair
}

type goldenPair struct {
	Expected, Got string
	Same          bool
}

func (p *goldenPair) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&p.Expected, &p.Got, &p.Same})
}

func readGolden(t *testing.T) golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/published.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPublishedTextsAsPython(t *testing.T) {
	for _, p := range readGolden(t).Texts {
		if diff := diffText(p.Expected, p.Got, Published, nil); (diff == "") != p.Same {
			t.Errorf("expected %q, got %q: %q, but Python says %v", p.Expected, p.Got, diff, p.Same)
		}
	}
}

func TestPublishedValuesAsPython(t *testing.T) {
	rule := valueRuleOf(Published, nil)
	for _, p := range readGolden(t).Values {
		if diff := diffValues(p.Expected, p.Got, rule); (diff == "") != p.Same {
			t.Errorf("expected %s, got %s: %q, but Python says %v", p.Expected, p.Got, diff, p.Same)
		}
	}
}
