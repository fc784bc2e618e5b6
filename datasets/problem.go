// Package datasets loads benchmark problems and builds training data.
package datasets

import (
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// Problem is a benchmark problem in LiveCodeBench's terms.
type Problem struct {
	ID          string // question_id: unique, output is ordered by it
	Title       string
	Statement   string
	Platform    string // leetcode, codeforces, atcoder
	ContestID   string
	ContestDate time.Time
	Difficulty  string // easy, medium, hard
	StarterCode string // "": a stdin program
	Method      string // functional: the method of class Solution
	// Loose problems take the program as it stands: Method may be a function of it
	// or a method of class Solution, and LiveCodeBench's imports are not added.
	Loose bool
	// Opening is how the data begins a conversation on the problem; nil: as the
	// benchmark does, with Statement.
	Opening []Message
	Public  int // the first Public tests are public
	Tests   []judge.Test
	Checker *judge.Checker
	Limits  sandbox.Limits
}

// Message is a turn of an opening.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Functional reports whether tests call a method rather than feed stdin.
func (p Problem) Functional() bool { return p.Method != "" }

// Set is a loaded benchmark: its problems ordered by ID and where they came from.
type Set struct {
	Name     string // "bundled", a release ("v5"), or the file's base name
	SHA256   string // of the bytes that were read, in order
	Release  string // "" for a file of one's own
	Window   string // "2024-08-01..2025-02-01", "" when no dates were applied
	Problems []Problem
	Notes    []string // lines for the user: rows dropped by the date rule, counts
}
