package logs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coderl/cr/recipes/logs/chart"
)

// FigureOptions say how runs are compared.
type FigureOptions struct {
	// Baseline names the run that others are compared with; where it is empty it is
	// the first that logged nothing of speculative decoding.
	Baseline string
	// Connect draws through the steps that a restart left out.
	Connect bool
}

// Figure is one of the five figures, or why there is none.
type Figure struct {
	Name    string // of its files, without ending
	Chart   *chart.Figure
	Skipped string // the reason, where Chart is nil
}

// maxPanels is how many panels a figure has at most.
const maxPanels = 9

const smoothNote = "Thin lines: every step; thick lines: their centred moving mean, at both ends a straight line fitted to the nearest steps."

// Figures makes the five figures of a comparison: training progress, evaluation
// progress, accuracy with and without speculation, speed-up of the throughput, and
// acceptance over the steps.
func (l *Logs) Figures(o FigureOptions) ([]Figure, error) {
	p := plotter{logs: l, FigureOptions: o}
	if err := p.chooseBaseline(); err != nil {
		return nil, err
	}
	return []Figure{p.training(), p.evaluation(), p.accuracy(), p.speedup(), p.acceptance()}, nil
}

// plotter makes figures of one collection.
type plotter struct {
	FigureOptions
	logs     *Logs
	baseline *Run
	faster   []*Run // those to compare with the baseline
}

func (p *plotter) chooseBaseline() error {
	for _, r := range p.logs.Runs {
		if p.baseline == nil && (p.Baseline == r.Name || p.Baseline == "" && !r.isSpeculative()) {
			p.baseline = r
		}
	}
	if p.Baseline != "" && p.baseline == nil {
		var names []string
		for _, r := range p.logs.Runs {
			names = append(names, r.Name)
		}
		return fmt.Errorf("logs: no run is called %q; there are %s", p.Baseline, strings.Join(names, ", "))
	}
	for _, r := range p.logs.Runs {
		if r != p.baseline && (p.Baseline != "" || r.isSpeculative()) {
			p.faster = append(p.faster, r)
		}
	}
	return nil
}

// panel shows a quantity of several runs; ok is false where none has it.
func (p *plotter) panel(q quantity, runs []*Run, label func(*Run) string) (panel chart.Panel, ok bool) {
	panel = chart.Panel{Title: q.title, YLabel: q.unit}
	if q.share {
		panel.Max = 1
	}
	for _, r := range runs {
		if s := r.quantitySeries(label(r), q, p.Connect); hasFinite(s) {
			panel.Series = append(panel.Series, s)
		}
	}
	return panel, len(panel.Series) > 0
}

func hasFinite(s chart.Series) bool {
	return slices.ContainsFunc(s.Points, func(q chart.Point) bool { return isFinite(q.Y) })
}

func name(r *Run) string { return r.Name }

func (p *plotter) training() Figure {
	f := &chart.Figure{Title: "Training progress"}
	for _, q := range progress() {
		if panel, ok := p.panel(q, p.logs.Runs, name); ok && len(f.Panels) < maxPanels {
			f.Panels = append(f.Panels, panel)
		}
	}
	return finished("training_progress", f, "no finite value of a training metric was logged (critic/score/mean, train/loss, …)")
}

func (p *plotter) evaluation() Figure {
	f := &chart.Figure{Title: "Evaluation progress", Panels: p.scores(p.logs.Runs, name)}
	if n := len(f.Panels); n > maxPanels {
		f.Panels, f.Note = f.Panels[:maxPanels], fmt.Sprintf("%d more scores are in the table.", n-maxPanels)
	}
	return finished("evaluation_progress", f, "no finite score of a validation was logged (val-core/SOURCE/VARIABLE/mean@N, val/loss)")
}

// scores are the panels of the validations' scores: their mean where there are
// several of a kind, then each.
func (p *plotter) scores(runs []*Run, label func(*Run) string) []chart.Panel {
	byKind := map[string][]validation{}
	var kinds []string
	for _, v := range p.logs.validations() {
		if len(byKind[v.variable]) == 0 {
			kinds = append(kinds, v.variable)
		}
		byKind[v.variable] = append(byKind[v.variable], v)
	}
	var means, each []chart.Panel
	for _, kind := range kinds {
		of := byKind[kind]
		if len(of) > 1 {
			means = p.score(means, runs, label, fmt.Sprintf("Mean of %d sources", len(of)), of)
		}
		for _, v := range of {
			each = p.score(each, runs, label, v.source, []validation{v})
		}
	}
	return append(means, each...)
}

// score adds the panel of the mean of some scores, unless no run has one.
func (p *plotter) score(to []chart.Panel, runs []*Run, label func(*Run) string, title string, of []validation) []chart.Panel {
	panel := chart.Panel{Title: title, YLabel: of[0].variable}
	for _, r := range runs {
		s := r.series(label(r), r.overall(of), p.Connect)
		if s.Smooth = false; hasFinite(s) {
			panel.Series = append(panel.Series, s)
		}
	}
	if len(panel.Series) == 0 {
		return to
	}
	return append(to, panel)
}

// compared are the baseline and the runs to compare with it, or why there is
// nothing to compare.
func (p *plotter) compared() (runs []*Run, reason string) {
	switch {
	case p.baseline == nil:
		return nil, "all runs decoded speculatively; add one that did not, or name one with --baseline"
	case len(p.faster) == 0:
		return nil, "no run logged speculative decoding; add one that did, or name the run to compare with by --baseline"
	}
	return append([]*Run{p.baseline}, p.faster...), ""
}

func (p *plotter) accuracy() Figure {
	const file = "accuracy_speculation"
	runs, reason := p.compared()
	if reason != "" {
		return Figure{Name: file, Skipped: reason}
	}
	f := &chart.Figure{Title: "Accuracy with and without speculative decoding"}
	if panel, ok := p.panel(reward(), runs, p.role); ok {
		panel.Title = "Training reward"
		f.Panels = append(f.Panels, panel)
	}
	f.Panels = append(f.Panels, p.scores(runs, p.role)...)
	f.Panels = f.Panels[:min(len(f.Panels), maxPanels)]
	return finished(file, f, "neither a reward nor a validation was logged")
}

// role is a run's name and what it is compared as.
func (p *plotter) role(r *Run) string {
	switch {
	case p.Baseline != "" && r == p.baseline:
		return r.Name + " (baseline)"
	case r.isSpeculative():
		return r.Name + " (speculative)"
	default:
		return r.Name
	}
}

func (p *plotter) speedup() Figure {
	const file = "throughput_speedup"
	runs, reason := p.compared()
	if reason != "" {
		return Figure{Name: file, Skipped: reason}
	}
	f := &chart.Figure{Title: "Throughput, speed-up over " + p.baseline.Name}
	var relatives []chart.Panel
	var notes []string
	for _, q := range []quantity{throughput(), stepTime(), generationTime()} {
		panel, ok := p.panel(q, runs, p.role)
		if !ok {
			continue
		}
		f.Panels = append(f.Panels, panel)
		if relative, note, ok := p.relative(q); ok {
			relatives, notes = append(relatives, relative), append(notes, note)
		}
	}
	f.Panels = append(f.Panels, relatives...) // below the quantities themselves
	f.Note = strings.Join(notes, "\n")
	return finished(file, f, "neither throughput nor time per step was logged")
}

// relative is the panel of the speed-ups in a quantity, step by step, and their
// means as a sentence.
func (p *plotter) relative(q quantity) (panel chart.Panel, note string, ok bool) {
	panel = chart.Panel{Title: "Speed-up: " + strings.ToLower(q.title), YLabel: "× baseline", Reference: 1}
	isTime := q.title != throughput().title
	var means []speedupMean
	for _, r := range p.faster {
		metric := r.metricOf(q)
		if metric == "" || metric != p.baseline.metricOf(q) {
			continue
		}
		s := r.series(p.role(r), p.speedupAt(r, metric, isTime), p.Connect)
		if !hasFinite(s) {
			continue
		}
		panel.Series = append(panel.Series, s)
		mean, steps := ratio(r, p.baseline, metric)
		if isTime {
			mean = 1 / mean
		}
		means = append(means, speedupMean{fmt.Sprintf("%s ×%.2f", r.Name, mean), steps})
	}
	return panel, q.title + ": " + sentence(means), len(means) > 0
}

// speedupMean is a run's speed-up in words, over so many common steps.
type speedupMean struct {
	text  string
	steps int
}

// sentence joins speed-ups; the number of steps is said once where it is that of
// several in a row.
func sentence(means []speedupMean) string {
	var text strings.Builder
	for i, m := range means {
		text.WriteString(m.text)
		last := i == len(means)-1
		if last || means[i+1].steps != m.steps {
			fmt.Fprintf(&text, " over %d common steps", m.steps)
		}
		if !last {
			text.WriteString(", ")
		}
	}
	return text.String() + "."
}

// speedupAt is how many times faster a run was than the baseline at a step that
// both have.
func (p *plotter) speedupAt(r *Run, metric string, isTime bool) func(Row) (float64, bool) {
	base := map[int64]float64{}
	for _, row := range p.baseline.Rows {
		if v, ok := p.baseline.Value(row, metric); ok && v > 0 {
			base[row.Step] = v
		}
	}
	return func(row Row) (float64, bool) {
		v, ok := r.Value(row, metric)
		b, both := base[row.Step]
		if !ok || !both || !(v > 0) {
			return 0, false
		}
		if isTime {
			return b / v, true
		}
		return v / b, true
	}
}

func (p *plotter) acceptance() Figure {
	f := &chart.Figure{Title: "Acceptance of drafts over the steps"}
	for _, q := range []quantity{acceptanceRate(), acceptanceLength(), {"Accepted tokens", "per step", []string{"spec_decode/num_accepted_tokens"}, false}} {
		if panel, ok := p.panel(q, p.logs.Runs, name); ok {
			f.Panels = append(f.Panels, panel)
		}
	}
	for _, r := range p.logs.Runs {
		if panel, ok := p.positions(r); ok && len(f.Panels) < maxPanels {
			f.Panels = append(f.Panels, panel)
		}
	}
	return finished("acceptance", f, "nothing of speculative decoding was logged (spec_decode/…, rollout/spec_accept_…, vLLM's SpecDecoding lines)")
}

// maxPositions is how many positions of a draft are told apart by colour.
const maxPositions = 7

// positions is the panel of a run's acceptance by position in the draft.
func (p *plotter) positions(r *Run) (panel chart.Panel, ok bool) {
	panel = chart.Panel{Title: "By position: " + r.Name, YLabel: "accepted / drafts", Max: 1}
	for i := range maxPositions {
		s := r.series(fmt.Sprintf("draft token %d", i+1), r.metric(fmt.Sprintf("spec_decode/acceptance_rate_pos_%d", i)), p.Connect)
		if hasFinite(s) {
			panel.Series = append(panel.Series, s)
		}
	}
	return panel, len(panel.Series) > 0
}

// finished is the figure, or its absence with the reason.
func finished(file string, f *chart.Figure, reason string) Figure {
	if len(f.Panels) == 0 {
		return Figure{Name: file, Skipped: reason}
	}
	if f.Smoothed() {
		f.Note = strings.TrimSpace(f.Note + "\n" + smoothNote)
	}
	return Figure{Name: file, Chart: f}
}
