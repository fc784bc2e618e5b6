package sft

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// spot is where a node of a schema lies among a row's values.
type spot struct {
	node       parquet.Node
	leaf       int // its first leaf column
	definition int // level from which on it is there, not null
	repetition int // level of the innermost list around it
}

// root is the whole schema.
func root(schema *parquet.Schema) spot { return spot{node: schema} }

// child is the member with this name.
func (s spot) child(name string) (spot, bool) {
	if s.node.Leaf() {
		return spot{}, false
	}
	leaf := s.leaf
	for _, field := range s.node.Fields() {
		if field.Name() == name {
			return s.enter(field, leaf), true
		}
		leaf += leaves(field)
	}
	return spot{}, false
}

// enter descends to a member whose first leaf column is leaf.
func (s spot) enter(node parquet.Node, leaf int) spot {
	out := spot{node: node, leaf: leaf, definition: s.definition, repetition: s.repetition}
	if node.Optional() || node.Repeated() {
		out.definition++
	}
	if node.Repeated() {
		out.repetition++
	}
	return out
}

func leaves(node parquet.Node) int {
	if node.Leaf() {
		return 1
	}
	n := 0
	for _, field := range node.Fields() {
		n += leaves(field)
	}
	return n
}

// items is the repeated node of a list or map: it is there once per element.
func (s spot) items() (spot, bool) {
	if s.node.Leaf() {
		return spot{}, false
	}
	fields := s.node.Fields()
	if len(fields) != 1 || !fields[0].Repeated() {
		return spot{}, false
	}
	return s.enter(fields[0], s.leaf), true
}

// element is what a list's repeated node wraps.
func (s spot) element() (spot, bool) {
	items, ok := s.items()
	if !ok || items.node.Leaf() || len(items.node.Fields()) != 1 {
		return spot{}, false
	}
	return items.enter(items.node.Fields()[0], items.leaf), true
}

// conversation is where the column messages, its items and their struct lie.
type conversation struct{ list, item, message spot }

func findConversation(schema *parquet.Schema) (c conversation, err error) {
	var ok bool
	if c.list, ok = root(schema).child("messages"); !ok {
		return c, fmt.Errorf("%w: no column \"messages\"", ErrSchema)
	}
	if c.item, ok = c.list.items(); ok {
		c.message, ok = c.list.element()
	}
	if !ok || c.message.node.Leaf() {
		return c, fmt.Errorf("%w: column \"messages\" is no list of structs", ErrSchema)
	}
	return c, nil
}
