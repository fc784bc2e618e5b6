package sandbox

import (
	"encoding/json"

	"github.com/coderl/cr/sandbox/jail"
)

// newResult decides how a run ended from the facts of the jail.
func newResult(o *jail.Outcome, limits *Limits, job *Job) Result {
	r := Result{
		Status:   status(o, limits, job.Call != nil || job.Check != nil),
		ExitCode: o.ExitCode,
		Signal:   o.Signal,
		Stdout:   o.Stdout,
		Stderr:   o.Stderr,
		CPU:      o.CPU,
		Wall:     o.Wall,
		Memory:   o.Memory,
		Files:    o.Files,
	}
	switch {
	case r.Status != OK:
	case job.Check != nil:
		r.Check, r.Status = checkResult(o.Value)
	default:
		r.Value = o.Value
	}
	return r
}

// checkResult reads what a checker reported.
func checkResult(value []byte) (*CheckResult, Status) {
	var c CheckResult
	if json.Unmarshal(value, &c) != nil || !c.Passed && c.Kind == "" {
		return nil, RuntimeError
	}
	return &c, OK
}

// status ranks the facts. Memory comes before time, since a program that
// swaps or is being killed for memory also runs long; both come before what the
// program says of itself.
func status(o *jail.Outcome, limits *Limits, call bool) Status {
	switch {
	case o.OOMKills > 0 || o.Stop == jail.StopMemory:
		return MemoryLimitExceeded
	case o.Stop == jail.StopOutput:
		return OutputLimitExceeded
	case o.Stop == jail.StopCPU, o.Stop == jail.StopWall, o.CPU > limits.CPU:
		return TimeLimitExceeded
	case o.Report == jail.ReportMemory:
		return MemoryLimitExceeded
	case o.Report == jail.ReportCompile:
		return CompileError
	case o.ExitCode != 0, o.Signal != "":
		return RuntimeError
	case call && o.Report != jail.ReportValue, !call && o.Report != jail.NoReport:
		return RuntimeError
	}
	return OK
}
