package datasets

import (
	"embed"
	"encoding/json"
	"fmt"

	"github.com/coderl/cr/sandbox/judge"
)

//go:embed overlay
var overlayFiles embed.FS

// overlay reads what cr adds to LiveCodeBench's problems: checkers for the few
// whose statements grant a tolerance or accept several answers, by question_id.
func overlay() (map[string]*judge.Checker, error) {
	text, err := overlayFiles.ReadFile("overlay/overlay.json")
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	var checkers map[string]*judge.Checker
	if err := json.Unmarshal(text, &checkers); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	for id, checker := range checkers {
		if checker.Mode != "program" {
			continue
		}
		code, err := overlayFiles.ReadFile("overlay/" + id + ".py")
		if err != nil {
			return nil, fmt.Errorf("overlay: %w", err)
		}
		checker.Code = string(code)
	}
	return checkers, nil
}

// applyOverlay gives AtCoder's problems their checkers. A checker that stands in
// the file itself wins; one's own problem of the same ID is not AtCoder's.
func applyOverlay(s Set) (Set, error) {
	checkers, err := overlay()
	if err != nil {
		return Set{}, err
	}
	applied := 0
	for i := range s.Problems {
		p := &s.Problems[i]
		checker := checkers[p.ID]
		if checker == nil || p.Checker != nil || p.Platform != "atcoder" {
			continue
		}
		p.Checker = checker
		applied++
	}
	if applied > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d problems are judged by the tolerance or the several answers that their statements grant (not in the comparison mode published)", applied))
	}
	return s, nil
}
