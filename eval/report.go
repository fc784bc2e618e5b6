package eval

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/coderl/cr/internal/amount"
)

// WriteReport renders results as a table for a terminal.
func WriteReport(w io.Writer, r Results) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %s, %s\n", r.Benchmark, dataTitle(r.Data), amount.Of(r.Problems, "problem"), amount.Of(r.Samples, "sample"))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range ks(r.PassAtK) {
		e := r.PassAtK[strconv.Itoa(k)]
		fmt.Fprintf(t, "  pass@%d\t%s\t95 %%: %.1f to %.1f %%\n", k, percent(e), 100*e.Low, 100*e.High)
	}
	fmt.Fprintf(t, "  share of tests passed\t%.1f %%\n", 100*r.MeanTestShare)
	writeGroups(t, r.By)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "%s, %s, %s sampled; %d truncated, %d without code, %s\n",
		amount.Of(r.Turns, "turn"), amount.Of(r.ToolCalls, "tool call"), amount.Of(r.Tokens.Completion, "token"),
		r.Truncated, r.NoCode, amount.Of(r.InfraErrors, "infra error"))
	for _, n := range r.Notices {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// dataTitle names the data so that nobody takes the bundled problems for the
// benchmark.
func dataTitle(d DataInfo) string {
	title := cmp.Or(d.Name, "unnamed data")
	if d.Name == "bundled" {
		return "the bundled problems (not LiveCodeBench)"
	}
	if d.Window != "" {
		title += ", " + d.Window
	}
	return title
}

// writeGroups shows pass@1 of every slice that tells something: a way with one
// group repeats the line above.
func writeGroups(w io.Writer, by map[string]map[string]Group) {
	for _, way := range slices.Sorted(maps.Keys(by)) {
		if len(by[way]) < 2 {
			continue
		}
		for _, name := range slices.SortedFunc(maps.Keys(by[way]), compareGroups) {
			g := by[way][name]
			e, ok := g.PassAtK["1"]
			if !ok {
				continue
			}
			fmt.Fprintf(w, "  %s %s\t%s\t%s\n", way, name, percent(e), amount.Of(g.Problems, "problem"))
		}
	}
}

// compareGroups orders difficulties by difficulty and all else by name.
func compareGroups(a, b string) int {
	order := []string{"easy", "medium", "hard"}
	return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)), strings.Compare(a, b))
}

func ks(estimates map[string]Estimate) []int {
	var list []int
	for name := range estimates {
		if k, err := strconv.Atoi(name); err == nil {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

func percent(e Estimate) string {
	if e.Stderr == nil {
		return fmt.Sprintf("%.1f %%", 100*e.Value)
	}
	return fmt.Sprintf("%.1f %% ± %.1f", 100*e.Value, 100**e.Stderr)
}

// mostFlips is how many changed problems a comparison lists of each kind.
const mostFlips = 10

// WriteComparison renders a comparison for a terminal.
func WriteComparison(w io.Writer, c Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "A %s\nB %s\n%s: pass@1 %.1f %% and %.1f %%\n", c.A, c.B, amount.Of(c.Problems, "problem"), 100*c.ScoreA, 100*c.ScoreB)
	fmt.Fprintf(&b, "B − A: %+.1f points (%g %%: %+.1f to %+.1f)\n",
		100*c.Difference.Value, 100*c.Confidence, 100*c.Difference.Low, 100*c.Difference.High)
	if c.McNemar != nil {
		fmt.Fprintf(&b, "solved only by A: %d, only by B: %d; exact McNemar p = %.3g\n", c.McNemar.OnlyA, c.McNemar.OnlyB, c.McNemar.P)
	}
	if c.Detectable != nil {
		fmt.Fprintf(&b, "smallest difference it could detect: %.1f points\n", 100**c.Detectable)
	}
	writeFlips(&b, "gained", c.Gained)
	writeFlips(&b, "lost", c.Lost)
	for _, n := range c.Notices {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFlips(b *strings.Builder, title string, flips []Flip) {
	if len(flips) == 0 {
		return
	}
	fmt.Fprintf(b, "%s (%d):", title, len(flips))
	for _, f := range flips[:min(len(flips), mostFlips)] {
		fmt.Fprintf(b, " %s %.2f→%.2f", f.QuestionID, f.A, f.B)
	}
	if len(flips) > mostFlips {
		fmt.Fprintf(b, " and %d more", len(flips)-mostFlips)
	}
	b.WriteByte('\n')
}

// WriteGate renders a gate's decision for a terminal.
func WriteGate(w io.Writer, g GateResult) error {
	if _, err := fmt.Fprintf(w, "gate: %s: %s\n", g.Outcome, g.Reason); err != nil {
		return err
	}
	return WriteComparison(w, g.Comparison)
}
