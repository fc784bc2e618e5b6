package tinytasks

import (
	"strconv"
	"strings"
)

// parameter says what a clause is parameterised by.
type parameter int

const (
	none      parameter = iota
	small               // 2..9
	threshold           // 3..40
	letter              // one of letters
)

// args are a clause's parameters; only the one its kind asks for counts.
type args struct {
	k int
	c byte
}

// step is a kind of clause that turns a list into a list.
type step struct {
	name  string
	takes kind // anything: every kind
	gives kind // anything: what it took
	param parameter
	say   string // the sentence, with {k} or {c}
	code  string // the expression that a becomes
	do    func(l list, p args) list
	// near are the steps that a hasty reader takes it for, same parameter.
	near []string
}

// finish is a kind of clause that ends a program: one figure of the list.
type finish struct {
	name  string
	takes kind
	say   string // what follows "Print " or "Return "
	code  string // the expression that is printed or returned; "" for the list itself
	do    func(l list) answer
	near  []string
}

// Clause is a step with its parameters.
type Clause struct {
	step *step
	args args
	// meant is the clause that a wrong program misread, and still says.
	meant *Clause
}

// Say is the clause's sentence, in a statement and above its line of code.
func (c Clause) Say() string {
	if c.meant != nil {
		return c.meant.Say()
	}
	return fill(c.step.say, c.args)
}

// expression is the clause's Python expression over a.
func (c Clause) expression() string { return fill(c.step.code, c.args) }

func fill(template string, p args) string {
	return strings.NewReplacer("{k}", strconv.Itoa(p.k), "{c}", string(p.c)).Replace(template)
}
