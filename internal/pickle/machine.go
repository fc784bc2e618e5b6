package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// machine is the state of the stack machine.
type machine struct {
	data       []byte
	pos        int
	start      int // offset of the opcode being run
	stack      []any
	marks      []int // stack heights
	memo       map[uint32]any
	pushed     int
	walked     int // values seen by checkShape
	globals    map[Global]Constructor
	persistent func(id any) (any, error)
	limits     Limits
}

func (m *machine) broken(format string, args ...any) error {
	return &FormatError{Offset: m.start, Reason: fmt.Sprintf(format, args...)}
}

func (m *machine) run() (any, error) {
	m.memo = map[uint32]any{}
	for {
		m.start = m.pos
		op, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == opStop {
			break
		}
		if err := m.step(op[0]); err != nil {
			return nil, err
		}
	}
	v, err := m.pop()
	if err != nil {
		return nil, err
	}
	if len(m.stack) != 0 || len(m.marks) != 0 {
		return nil, m.broken("values left on the stack")
	}
	return v, nil
}

// take returns the next n bytes of input.
func (m *machine) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.data)-m.pos) {
		return nil, m.broken("ends early: %d bytes wanted, %d left", n, len(m.data)-m.pos)
	}
	b := m.data[m.pos : m.pos+int(n)]
	m.pos += int(n)
	return b, nil
}

// uint reads a little-endian unsigned number of width bytes.
func (m *machine) uint(width int) (uint64, error) {
	b, err := m.take(uint64(width))
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:]), nil
}

// sized reads a length of width bytes and then as many bytes.
func (m *machine) sized(width int) ([]byte, error) {
	n, err := m.uint(width)
	if err != nil {
		return nil, err
	}
	return m.take(n)
}

func (m *machine) push(v any) error {
	if m.pushed++; m.pushed > m.limits.Values {
		return m.broken("more than %d values", m.limits.Values)
	}
	m.stack = append(m.stack, v)
	return nil
}

// floor is the height below which the current mark protects the stack.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	v, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return v, err
}

func (m *machine) top() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, m.broken("the stack is empty")
	}
	return m.stack[len(m.stack)-1], nil
}

// popN takes n values, in the order they were pushed.
func (m *machine) popN(n int) ([]any, error) {
	at := len(m.stack) - n
	if at < m.floor() {
		return nil, m.broken("the stack holds fewer than %d values", n)
	}
	return m.cutAt(at), nil
}

// popMark takes everything above the last mark, and the mark.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, m.broken("no mark on the stack")
	}
	at := m.floor()
	m.marks = m.marks[:len(m.marks)-1]
	return m.cutAt(at), nil
}

func (m *machine) cutAt(height int) []any {
	values := append([]any(nil), m.stack[height:]...)
	m.stack = m.stack[:height]
	return values
}

func (m *machine) remember(index uint64) error {
	if len(m.memo) >= m.limits.Memo || index > math.MaxUint32 {
		return m.broken("more than %d remembered values", m.limits.Memo)
	}
	v, err := m.top()
	if err == nil {
		m.memo[uint32(index)] = v
	}
	return err
}

func (m *machine) recall(index uint64) error {
	if index > math.MaxUint32 {
		return m.broken("memo index %d", index)
	}
	v, ok := m.memo[uint32(index)]
	if !ok {
		return m.broken("nothing remembered as %d", index)
	}
	return m.push(v)
}

func (m *machine) pushText(b []byte) error {
	if !utf8.Valid(b) {
		return m.broken("a string is not UTF-8")
	}
	return m.push(string(b))
}
