package main

// evalCmd groups the benchmarks and what is done with their runs.
type evalCmd struct {
	LiveCodeBench livecodebenchCmd `cmd:"" name:"livecodebench" help:"LiveCodeBench, code generation: multi-turn with a code tool, pass@k with error bars."`
	Compare       compareCmd       `cmd:"" help:"What changed between two finished runs, paired by problem."`
	Gate          gateCmd          `cmd:"" help:"Fail when a run is worse than a baseline by more than is allowed."`
}
