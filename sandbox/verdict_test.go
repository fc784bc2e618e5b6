package sandbox

import (
	"testing"
	"time"

	"github.com/coderl/cr/sandbox/jail"
)

// TestStatusRanksFacts fixes which fact decides where several hold.
func TestStatusRanksFacts(t *testing.T) {
	limits := Limits{CPU: time.Second}
	rows := []struct {
		name string
		o    jail.Outcome
		call bool
		want Status
	}{
		{"clean exit", jail.Outcome{}, false, OK},
		{"killed for memory", jail.Outcome{OOMKills: 1, Signal: "SIGKILL", ExitCode: 137}, false, MemoryLimitExceeded},
		{"memory before time", jail.Outcome{OOMKills: 1, Stop: jail.StopCPU}, false, MemoryLimitExceeded},
		{"only a child died of memory", jail.Outcome{OOMKills: 1}, false, MemoryLimitExceeded},
		{"allocation refused", jail.Outcome{Report: jail.ReportMemory, ExitCode: 1}, false, MemoryLimitExceeded},
		{"output", jail.Outcome{Stop: jail.StopOutput, CPU: 2 * time.Second}, false, OutputLimitExceeded},
		{"ended just over its time", jail.Outcome{CPU: time.Second + 1}, false, TimeLimitExceeded},
		{"ended just in time", jail.Outcome{CPU: time.Second, Wall: time.Hour}, false, OK},
		{"killed by its CPU rlimit", jail.Outcome{CPU: 2 * time.Second, Signal: "SIGXCPU", ExitCode: 152}, false, TimeLimitExceeded},
		{"slept", jail.Outcome{Stop: jail.StopWall}, false, TimeLimitExceeded},
		{"not compiled", jail.Outcome{Report: jail.ReportCompile, ExitCode: 1}, true, CompileError},
		{"raised", jail.Outcome{ExitCode: 1}, false, RuntimeError},
		{"exit 0 without a value", jail.Outcome{}, true, RuntimeError},
		{"value but exit 1", jail.Outcome{Report: jail.ReportValue, ExitCode: 1}, true, RuntimeError},
		{"value", jail.Outcome{Report: jail.ReportValue, Value: []byte("1")}, true, OK},
		{"forged report", jail.Outcome{Report: jail.ReportForged}, false, RuntimeError},
		{"forged value", jail.Outcome{Report: jail.ReportForged}, true, RuntimeError},
	}
	for _, row := range rows {
		job := Job{}
		if row.call {
			job.Call = &Call{}
		}
		if got := newResult(&row.o, &limits, &job); got.Status != row.want {
			t.Errorf("%s: %s, want %s", row.name, got.Status, row.want)
		}
	}
}

func TestWallGuard(t *testing.T) {
	for cpu, want := range map[time.Duration]time.Duration{
		500 * time.Millisecond: 1500 * time.Millisecond,
		time.Second:            2 * time.Second,
		6 * time.Second:        12 * time.Second,
	} {
		if got := (Limits{CPU: cpu}).or(DefaultLimits()).Wall; got != want {
			t.Errorf("CPU %v: guard %v, want %v", cpu, got, want)
		}
	}
	if got := (Limits{CPU: time.Second, Wall: 5 * time.Second}).or(DefaultLimits()).Wall; got != 5*time.Second {
		t.Errorf("a wall limit of one's own became %v", got)
	}
}
