package pickle

import (
	"bytes"
	"fmt"
)

// object runs the opcodes that name, call and fill objects.
func (m *machine) object(op byte) error {
	switch op {
	case opGlobal:
		return m.globalByLines()
	case opStackGlobal:
		return m.globalByStack()
	case opReduce, opNewObj:
		// cls.__new__(cls, *args) is a call as far as a constructor can tell.
		return m.reduce()
	case opBuild:
		return m.build()
	default:
		return m.persist()
	}
}

func (m *machine) globalByLines() error {
	module, err := m.line()
	if err != nil {
		return err
	}
	name, err := m.line()
	if err != nil {
		return err
	}
	return m.pushGlobal(Global{module, name})
}

func (m *machine) line() (string, error) {
	end := bytes.IndexByte(m.data[m.pos:], '\n')
	if end < 0 {
		return "", m.broken("a name without an end")
	}
	b, err := m.take(uint64(end) + 1)
	if err != nil {
		return "", err
	}
	return string(b[:end]), nil
}

func (m *machine) globalByStack() error {
	names, err := m.popN(2)
	if err != nil {
		return err
	}
	module, ok := names[0].(string)
	name, ok2 := names[1].(string)
	if !ok || !ok2 {
		return m.broken("a global's name is no string")
	}
	return m.pushGlobal(Global{module, name})
}

func (m *machine) pushGlobal(name Global) error {
	if _, ok := m.globals[name]; !ok {
		return m.forbidden("global", name)
	}
	return m.push(name)
}

func (m *machine) forbidden(what string, name Global) error {
	return &ForbiddenError{Offset: m.start, What: fmt.Sprintf("%s %.80q", what, name.Module+"."+name.Name)}
}

func (m *machine) reduce() error {
	values, err := m.popN(2)
	if err != nil {
		return err
	}
	callee, ok := values[0].(Global)
	args, ok2 := values[1].(Tuple)
	if !ok || !ok2 {
		return m.broken("a call of %T with %T", values[0], values[1])
	}
	build := m.globals[callee]
	if build == nil {
		return m.forbidden("a call of", callee)
	}
	// What a constructor gets must be as safe to walk as a result.
	if err := m.checkShape(args); err != nil {
		return err
	}
	v, err := build(args)
	if err != nil {
		return fmt.Errorf("pickle: offset %d: %s.%s: %w", m.start, callee.Module, callee.Name, err)
	}
	return m.push(v)
}

func (m *machine) build() error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	target, ok := v.(StateSetter)
	if !ok {
		return m.broken("a %T takes no state", v)
	}
	if err := m.checkShape(state); err != nil {
		return err
	}
	if err := target.SetState(state); err != nil {
		return fmt.Errorf("pickle: offset %d: state: %w", m.start, err)
	}
	return nil
}

func (m *machine) persist() error {
	if m.persistent == nil {
		return &ForbiddenError{Offset: m.start, What: "persistent id"}
	}
	id, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.persistent(id)
	if err != nil {
		return fmt.Errorf("pickle: offset %d: persistent id: %w", m.start, err)
	}
	return m.push(v)
}
