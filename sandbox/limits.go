package sandbox

import "time"

// DefaultLimits are the limits of a job that names none. CPU is LiveCodeBench's
// six seconds; the memory limit is what other graders of it use.
func DefaultLimits() Limits {
	return Limits{
		CPU:       6 * time.Second,
		Memory:    4 << 30,
		Output:    16 << 20,
		Processes: 64,
	}
}

// or fills zero fields from d, and the wall guard from the CPU limit.
func (l Limits) or(d Limits) Limits {
	if l.CPU <= 0 {
		l.CPU = d.CPU
		if l.Wall <= 0 {
			l.Wall = d.Wall
		}
	}
	if l.Wall <= 0 {
		l.Wall = max(2*l.CPU, l.CPU+time.Second)
	}
	if l.Memory <= 0 {
		l.Memory = d.Memory
	}
	if l.Output <= 0 {
		l.Output = d.Output
	}
	if l.Processes <= 0 {
		l.Processes = d.Processes
	}
	return l
}
