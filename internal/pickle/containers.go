package pickle

import "fmt"

// container runs the opcodes of lists, dicts and tuples; what it does not know
// is forbidden.
func (m *machine) container(op byte) error {
	switch op {
	case opEmptyList:
		return m.push(&List{})
	case opEmptyDict:
		return m.push(&Dict{})
	case opEmptyTuple:
		return m.push(Tuple{})
	case opTuple1, opTuple2, opTuple3:
		values, err := m.popN(int(op-opTuple1) + 1)
		return m.pushTuple(values, err)
	case opTuple:
		values, err := m.popMark()
		return m.pushTuple(values, err)
	case opAppend:
		values, err := m.popN(1)
		return m.extend(values, err)
	case opAppends:
		values, err := m.popMark()
		return m.extend(values, err)
	case opSetItem:
		values, err := m.popN(2)
		return m.set(values, err)
	case opSetItems:
		values, err := m.popMark()
		return m.set(values, err)
	default:
		return &ForbiddenError{Offset: m.start, What: fmt.Sprintf("opcode 0x%02x", op)}
	}
}

func (m *machine) pushTuple(values []any, err error) error {
	if err != nil {
		return err
	}
	return m.push(Tuple(values))
}

func (m *machine) extend(values []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	list, ok := v.(*List)
	if !ok {
		return m.broken("items appended to a %T", v)
	}
	list.Items = append(list.Items, values...)
	return nil
}

// ItemSetter is a constructed value that takes dict items (OrderedDict).
type ItemSetter interface {
	SetItem(key, value any) error
}

func (m *machine) set(values []any, err error) error {
	if err != nil {
		return err
	}
	if len(values)%2 != 0 {
		return m.broken("a key without a value")
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	target, ok := v.(ItemSetter)
	if !ok {
		return m.broken("items set on a %T", v)
	}
	for i := 0; i < len(values); i += 2 {
		if err := target.SetItem(values[i], values[i+1]); err != nil {
			return m.broken("%v", err)
		}
	}
	return nil
}

// SetItem adds an entry. Keys are what Python can hash among plain data.
func (d *Dict) SetItem(key, value any) error {
	switch key.(type) {
	case nil, bool, int64, float64, string, Tuple:
		d.Items = append(d.Items, Item{key, value})
		return nil
	default:
		return fmt.Errorf("a %T cannot be a key", key)
	}
}
