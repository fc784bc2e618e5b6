// Package tinytasks makes small programming tasks, thousands of distinct ones,
// as compositions of clauses: read a list, filter, transform and rearrange it,
// print one figure of it. A task comes with its statement, a sample, hidden
// tests, the right program, and wrong programs that the tests are known to fail.
//
// The tasks train and measure the model that cr ships. What a model could have
// learnt by heart is kept apart by composition: the sequence of a task's clauses,
// without their parameters, belongs to exactly one [Split].
//
// Every draw is keyed by seed, split and index, so the same call makes the same
// task on every machine.
package tinytasks

// Task is one problem with its solution.
type Task struct {
	ID        string
	Recipe    Recipe // the right program
	Statement string // with the sample Public
	Starter   string // starter code of a functional task, "" for a stdin one
	Method    string // of class Solution; "" for a stdin task
	// Public is the one public test, shown in the statement; it is one of
	// Samples, each of which could stand there ([Task.Told]).
	Public  Test
	Samples []Test
	Hidden  []Test
	Wrong   []Variant // programs that fail a hidden test
}

// Tests are the public test and the hidden ones.
func (t Task) Tests() []Test { return append([]Test{t.Public}, t.Hidden...) }

// Test is a test in LiveCodeBench's terms: what the program reads, or the
// argument of a call as JSON, and what it must answer.
type Test struct {
	Input  string
	Output string
	list   list   // what Input spells
	shown  string // what print shows of the answer
}

// Shown is the answer as print shows it, and as a statement's sample has it.
func (t Test) Shown() string { return t.shown }

// Variant is a recipe near the right one, as a hasty reader would write it.
type Variant struct {
	Recipe Recipe
	How    Mistake
}

// Method is the name of the method that functional tasks ask for.
const Method = "solve"
