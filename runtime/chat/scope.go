package chat

import (
	"fmt"
	"slices"
	"strings"
)

// loops keeps what a loop's body sets from outliving the iteration: in Jinja
// each iteration begins with the names as they were before the loop, in the
// engine the last iteration's values stay. For each name that a body sets, the
// value is saved before the loop and brought back at the body's beginning.
type loops struct {
	open   []loop // innermost last
	made   int    // loops so far, to name the saved values
	traced bool   // with calls that a trace follows
}

// loop is a for block whose end has not come yet.
type loop struct {
	at    int      // the for tag's place among the pieces
	bound []string // the loop's own variables
	names []string // what its body sets
}

// statement follows a statement's words and changes the pieces written so far,
// of which the last is the statement itself.
func (l *loops) statement(pieces []string, words []string) {
	switch {
	case len(words) == 0:
	case words[0] == "for":
		bound := []string{"loop"}
		if in := slices.Index(words, "in"); in > 0 {
			bound = append(bound, words[1:in]...)
		}
		l.open = append(l.open, loop{at: len(pieces) - 1, bound: bound})
	case words[0] == "set" && len(l.open) > 0:
		inner := &l.open[len(l.open)-1]
		for _, name := range setNames(words) {
			if !slices.Contains(inner.bound, name) && !slices.Contains(inner.names, name) {
				inner.names = append(inner.names, name)
			}
		}
	case words[0] == "endfor" && len(l.open) > 0:
		inner := l.open[len(l.open)-1]
		l.open = l.open[:len(l.open)-1]
		l.made++
		var save, restore strings.Builder
		for _, name := range inner.names {
			fmt.Fprintf(&save, "{%% set cr_%d_%s = %s %%}", l.made, name, name)
			fmt.Fprintf(&restore, "{%% set %s = cr_%d_%s %%}", name, l.made, name)
		}
		if l.traced {
			restore.WriteString(enterCalls(l.made, inner.bound))
			pieces[len(pieces)-1] += leaveCall(l.made)
		}
		pieces[inner.at] = save.String() + pieces[inner.at] + restore.String()
	case words[0] == "generation" && l.traced:
		pieces[len(pieces)-1] += generationCall(true)
	case words[0] == "endgeneration" && l.traced:
		pieces[len(pieces)-1] = generationCall(false) + pieces[len(pieces)-1]
	}
}

// setNames are the plain names that a set statement assigns; a namespace's
// attribute is none.
func setNames(words []string) []string {
	var names []string
	for _, word := range words[1:] {
		switch {
		case word == "=":
			return names
		case word == ".":
			return nil
		case word != "," && wordByte(word[0]):
			names = append(names, word)
		}
	}
	return names[:min(len(names), 1)] // a block: what follows the name are filters
}

// words splits a statement into words and signs.
func words(tag string) []string {
	var out []string
	body := strings.TrimSuffix(strings.TrimPrefix(tag, "{%"), "%}")
	for i := 0; i < len(body); {
		n := max(1, wordLength(body[i:]))
		if word := body[i : i+n]; strings.TrimSpace(word) != "" {
			out = append(out, word)
		}
		i += n
	}
	return out
}
