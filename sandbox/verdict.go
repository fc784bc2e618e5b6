package sandbox

import "github.com/coderl/cr/sandbox/jail"

// newResult decides how a run ended from the facts of the jail.
func newResult(o *jail.Outcome, limits *Limits, call bool) Result {
	r := Result{
		Status:   status(o, limits, call),
		ExitCode: o.ExitCode,
		Signal:   o.Signal,
		Stdout:   o.Stdout,
		Stderr:   o.Stderr,
		CPU:      o.CPU,
		Wall:     o.Wall,
		Memory:   o.Memory,
		Files:    o.Files,
	}
	if r.Status == OK {
		r.Value = o.Value
	}
	return r
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
