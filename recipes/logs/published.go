package logs

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// publishedColumn is a column of the recipe's own script and the metrics that fill
// it, the first that was logged.
type publishedColumn struct {
	name    string
	metrics []string
}

// publishedColumns are the columns of the training table that the recipe's
// process_all_the_logs_sprl.py writes, behind configuration, global_step and
// rl_step.
func publishedColumns() []publishedColumn {
	columns := []publishedColumn{
		{"critic_score_mean", []string{"critic/score/mean"}},
		{"entropy", []string{"actor/entropy", "actor/entropy_loss"}},
		{"prompt_length_mean", []string{"prompt_length/mean"}},
		{"response_length_mean", []string{"response_length/mean"}},
		{"response_length_non_aborted_mean", []string{"response_length_non_aborted/mean"}},
		{"response_length_clip_ratio", []string{"response_length/clip_ratio"}},
		{"num_turns_mean", []string{"num_turns/mean", "training/num_turns/mean"}},
		{"num_turns_min", []string{"num_turns/min", "training/num_turns/min"}},
		{"num_turns_max", []string{"num_turns/max", "training/num_turns/max"}},
		{"time_per_step", []string{"perf/time_per_step"}},
		{"throughput_tokens_per_s", []string{"perf/throughput"}},
	}
	for _, phase := range []string{"step", "gen", "update_actor", "ref", "old_log_prob", "adv", "reward"} {
		columns = append(columns, publishedColumn{"timing_s_" + phase, []string{"timing_s/" + phase}})
	}
	for _, count := range []string{"num_drafts", "num_draft_tokens", "num_accepted_tokens", "draft_acceptance_rate", "mean_acceptance_length"} {
		columns = append(columns, publishedColumn{"spec_decode_" + count, []string{"spec_decode/" + count}})
	}
	for i := range 5 {
		columns = append(columns, publishedColumn{fmt.Sprintf("spec_decode_acceptance_rate_pos_%d", i), []string{fmt.Sprintf("spec_decode/acceptance_rate_pos_%d", i)}})
	}
	return columns
}

// WritePublishedCSV writes the training steps under the column names of the
// recipe's own script, so that what reads its table reads this one. Rows that are
// a validation only have no place in it.
func (l *Logs) WritePublishedCSV(w io.Writer) error {
	columns := publishedColumns()
	record := []string{"configuration", "global_step", "rl_step"}
	for _, c := range columns {
		record = append(record, c.name)
	}
	out := csv.NewWriter(w)
	if err := out.Write(record); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	for _, run := range l.Runs {
		for _, r := range run.Rows {
			if !r.Training {
				continue
			}
			record = append(record[:0], run.configuration(), strconv.FormatInt(run.Origin.GlobalStep, 10), strconv.FormatInt(r.Step, 10))
			for _, c := range columns {
				record = append(record, run.firstOf(r, c.metrics))
			}
			if err := out.Write(record); err != nil {
				return fmt.Errorf("write the table: %w", err)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// configuration is the experiment that a run began from, else its name.
func (r *Run) configuration() string {
	if r.Origin.Configuration != "" {
		return r.Origin.Configuration
	}
	return r.Name
}

func (r *Run) firstOf(row Row, metrics []string) string {
	for _, m := range metrics {
		if v, ok := r.Value(row, m); ok {
			return formatValue(v)
		}
	}
	return ""
}
