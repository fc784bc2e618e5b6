package eval

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/coderl/cr/runtime/chat"
)

// Rule names how a program is taken out of an answer.
type Rule string

// The extraction rules.
const (
	// ExtractLast takes the last complete Python block of the last turn's
	// answer, thinking cut off; see [extractLast] for the order of its steps.
	ExtractLast Rule = "last"
	// ExtractLCB is LiveCodeBench's rule to the letter: what lies between the
	// last two lines of the last turn that hold three backticks.
	ExtractLCB Rule = "lcb"
	// ExtractVerl is the rule of the verl and ScaleBox recipe: the first
	// complete Python block of the whole transcript, closed thinking removed.
	ExtractVerl Rule = "verl"
)

// ParseRule reads a rule's name.
func ParseRule(name string) (Rule, error) {
	rule := Rule(name)
	if !slices.Contains([]Rule{ExtractLast, ExtractLCB, ExtractVerl}, rule) {
		return "", fmt.Errorf("extraction rule %q is none of last, lcb, verl", name)
	}
	return rule, nil
}

// Extraction is the program found in an answer.
type Extraction struct {
	Code string // "" when there is none
	// Step says which step of the rule found it: "python", "unclosed", "other",
	// "bare", "lcb"; "" when none did.
	Step string
	// Unclosed: the thinking began and never ended, so there is no answer.
	Unclosed bool
}

// Answer is the text that a rule looks at.
type Answer struct {
	Final      string // the last assistant turn
	Transcript string // every turn and tool reply, joined by newlines
	// Opened: the prompt itself ended with the opening tag of the thinking, so
	// that a text without a closing tag is all thinking.
	Opened bool
}

// Extract finds the program in an answer.
func Extract(rule Rule, a Answer) Extraction {
	switch rule {
	case ExtractLCB:
		return extractLCB(a.Final)
	case ExtractVerl:
		return extractVerl(a.Transcript)
	default:
		return extractLast(a)
	}
}

// extractLast tries, in order: the last complete block labelled Python or not
// labelled; a last block labelled Python (or not at all) that never closes; the
// last complete block under another label; an answer without any fence that
// begins as a program does.
func extractLast(a Answer) Extraction {
	_, answer, closed := chat.SplitThinking(a.Final, a.Opened)
	if !closed {
		return Extraction{Unclosed: true}
	}
	blocks, bare := fences(answer)
	steps := []struct {
		name string
		want func(block) bool
	}{
		{"python", func(b block) bool { return b.closed && b.isPython() }},
		{"unclosed", func(b block) bool { return !b.closed && b.isPython() }},
		{"other", func(b block) bool { return b.closed }},
	}
	for _, step := range steps {
		for _, b := range slices.Backward(blocks) {
			if step.want(b) && strings.TrimSpace(b.code) != "" {
				return Extraction{Code: b.code, Step: step.name}
			}
		}
	}
	if len(blocks) == 0 && beginsAsProgram(bare) {
		return Extraction{Code: strings.Trim(bare, "\n"), Step: "bare"}
	}
	return Extraction{}
}

// programStart is a first line that only a Python program has.
var programStart = regexp.MustCompile(`^(async\s+def\s+\w+\s*\(|def\s+\w+\s*\(|class\s+\w+\s*[:(]|from\s+[\w.]+\s+import\s|import\s+[A-Za-z_][\w.]*(\s+as\s+\w+|\s*,.*)?\s*(#.*)?$|#!)`)

func beginsAsProgram(text string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	return programStart.MatchString(strings.TrimRight(first, "\r"))
}

// extractLCB counts any line with three backticks in it, as the original does,
// and looks neither at labels nor at thinking.
func extractLCB(text string) Extraction {
	lines := strings.Split(text, "\n")
	var marks []int
	for i, line := range lines {
		if strings.Contains(line, "```") {
			marks = append(marks, i)
		}
	}
	if len(marks) < 2 {
		return Extraction{}
	}
	from, to := marks[len(marks)-2]+1, marks[len(marks)-1]
	code := strings.Join(lines[from:to], "\n")
	if strings.TrimSpace(code) == "" {
		return Extraction{}
	}
	return Extraction{Code: code, Step: "lcb"}
}

var closedThinking = regexp.MustCompile(`(?s)<think>.*?</think>`)

// extractVerl takes the first complete block labelled Python, else the first
// complete block, else the first that never closes.
func extractVerl(transcript string) Extraction {
	blocks, _ := fences(strings.TrimSpace(closedThinking.ReplaceAllString(transcript, "")))
	steps := []struct {
		name string
		want func(block) bool
	}{
		{"python", func(b block) bool { return b.closed && b.label != "" && b.isPython() }},
		{"other", func(b block) bool { return b.closed }},
		{"unclosed", func(b block) bool { return !b.closed }},
	}
	for _, step := range steps {
		if i := slices.IndexFunc(blocks, step.want); i >= 0 && strings.TrimSpace(blocks[i].code) != "" {
			return Extraction{Code: blocks[i].code, Step: step.name}
		}
	}
	return Extraction{}
}
