package eval

import (
	"io"
	"path/filepath"
	"time"

	"github.com/coderl/cr/internal/atomicfile"
)

// timingReport is timing.json: what depends on the machine and the hour.
type timingReport struct {
	Session struct {
		Seconds float64 `json:"seconds"` // of the last session of the run
	} `json:"session"`
	Generate        float64        `json:"generate_seconds"` // sums over all samples, which overlap
	Judge           float64        `json:"judge_seconds"`
	TokensPerSecond float64        `json:"tokens_per_sample_second"` // sampled tokens / generate_seconds
	Samples         []sampleTiming `json:"samples"`
}

type sampleTiming struct {
	QuestionID string `json:"question_id"`
	Index      int    `json:"sample"`
	timing
}

// finish writes the run's files from the journal and returns the results.
// results.json comes last: where it is, the others are.
func (f *folder) finish(c Config, d Deps, p plan, took time.Duration) (Results, error) {
	acc := accumulator{dropped: make(map[string]bool)}
	var times timingReport
	times.Session.Seconds = took.Seconds()
	err := atomicfile.Write(filepath.Join(f.path, samplesFile), func(w io.Writer) error {
		for _, k := range p.keys {
			rec, err := f.journal.read(k)
			if err != nil {
				return err
			}
			line, err := encodeLine(rec.Sample)
			if err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
			acc.add(p.problem(k.id), rec)
			times.add(rec)
		}
		return nil
	})
	if err != nil {
		return Results{}, err
	}
	if times.Generate > 0 {
		times.TokensPerSecond = float64(acc.results.Tokens.Completion) / times.Generate
	}
	if err := writeJSON(filepath.Join(f.path, timingFile), times); err != nil {
		return Results{}, err
	}
	results := acc.finish(c, d, p)
	return results, writeJSON(filepath.Join(f.path, resultsFile), results)
}

func (t *timingReport) add(r record) {
	t.Generate += r.Timing.Generate
	t.Judge += r.Timing.Judge
	t.Samples = append(t.Samples, sampleTiming{r.Sample.QuestionID, r.Sample.Index, r.Timing})
}
