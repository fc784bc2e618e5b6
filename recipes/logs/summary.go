package logs

import "github.com/coderl/cr/recipes/logs/chart"

// RunSummary is what one looks for first in a run.
type RunSummary struct {
	Name        string     `json:"name"`
	Origin      string     `json:"origin,omitempty"` // the checkpoint that it began from
	Files       []string   `json:"files"`
	Steps       int        `json:"steps"` // rows of training
	First       int64      `json:"first_step"`
	Last        int64      `json:"last_step"`
	Attempts    int        `json:"attempts"`   // starts that left metrics
	Superseded  int        `json:"superseded"` // rows that a later attempt trained again
	Speculative bool       `json:"speculative"`
	Headlines   []Headline `json:"metrics"`
}

// Headline is a quantity of a run at its first and last step that have it.
type Headline struct {
	Title  string       `json:"title"`
	Metric string       `json:"metric"`
	First  JSONNumber   `json:"first"`
	Last   JSONNumber   `json:"last"`
	Min    JSONNumber   `json:"min"`
	Max    JSONNumber   `json:"max"`
	Series chart.Series `json:"-"`
}

// JSONNumber is a number that is null in JSON where it is not finite.
type JSONNumber float64

// MarshalJSON writes the number.
func (n JSONNumber) MarshalJSON() ([]byte, error) {
	if !isFinite(float64(n)) {
		return []byte("null"), nil
	}
	return []byte(formatValue(float64(n))), nil
}

// Summaries are the runs in short.
func (l *Logs) Summaries() []RunSummary {
	all := make([]RunSummary, 0, len(l.Runs))
	for _, r := range l.Runs {
		all = append(all, l.summary(r))
	}
	return all
}

func (l *Logs) summary(r *Run) RunSummary {
	s := RunSummary{
		Name: r.Name, Files: r.Files, Attempts: r.Attempts, Superseded: len(r.Superseded), Speculative: r.isSpeculative(),
		First: r.Rows[0].Step, Last: r.Rows[len(r.Rows)-1].Step,
	}
	if r.Origin != (Origin{}) {
		s.Origin = r.Origin.String()
	}
	for _, row := range r.Rows {
		if row.Training {
			s.Steps++
		}
	}
	for _, q := range append(progress(), acceptanceRate(), acceptanceLength()) {
		if m := r.metricOf(q); m != "" {
			s.Headlines = append(s.Headlines, headline(q.title, m, r.series(q.title, r.metric(m), false)))
		}
	}
	for _, v := range l.validations() {
		if r.Has(v.metric) {
			s.Headlines = append(s.Headlines, headline("Eval "+v.source, v.metric, r.series(v.source, r.metric(v.metric), false)))
		}
	}
	return s
}

func headline(title, metric string, s chart.Series) Headline {
	h := Headline{Title: title, Metric: metric, Series: s}
	h.First, h.Last = JSONNumber(s.Points[0].Y), JSONNumber(s.Points[len(s.Points)-1].Y)
	h.Min, h.Max = h.First, h.First
	for _, p := range s.Points {
		if y := JSONNumber(p.Y); isFinite(p.Y) {
			if !isFinite(float64(h.Min)) {
				h.Min, h.Max = y, y
			}
			h.Min, h.Max = min(h.Min, y), max(h.Max, y)
		}
	}
	return h
}
