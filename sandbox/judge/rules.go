package judge

import (
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/lang"
)

// activeChecker is the task's checker, which Published ignores: LiveCodeBench
// grants neither tolerance nor several answers.
func activeChecker(task Task) *Checker {
	if task.Mode == Published {
		return nil
	}
	return task.Checker
}

// CheckRules refuses a mode or checker that no rule stands behind.
func (t Task) CheckRules() error {
	switch t.Mode {
	case Published, Strict, Lines, Tokens, "":
	default:
		return fmt.Errorf("comparison mode %q is none of published, strict, lines, tokens", t.Mode)
	}
	if checker := activeChecker(t); checker != nil {
		return checker.Validate()
	}
	return nil
}

// Validate says what is wrong with a checker as written in a problem file.
func (c Checker) Validate() error {
	switch c.Mode {
	case "exact", "tokens":
		return nil
	case "abs", "rel_or_abs":
		if !(c.Eps > 0) {
			return fmt.Errorf("checker mode %q needs eps > 0", c.Mode)
		}
		return nil
	case "program":
		if c.Form != ByPath && c.Form != ByName && c.Form != Testlib {
			return fmt.Errorf("checker form %q is none of empty, %q, %q", c.Form, ByName, Testlib)
		}
		if strings.TrimSpace(c.Code) == "" {
			return fmt.Errorf("checker mode \"program\" needs code")
		}
		if c.Language != "" && lang.Find(c.Language) == nil {
			return fmt.Errorf("language %q is none of %s", c.Language, strings.Join(sandbox.Languages(), ", "))
		}
		return nil
	default:
		return fmt.Errorf("checker mode %q is none of exact, tokens, abs, rel_or_abs, program", c.Mode)
	}
}
