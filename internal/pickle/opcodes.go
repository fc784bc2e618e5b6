package pickle

import (
	"encoding/binary"
	"math"
)

// The opcodes that are understood, by their names in Python's pickletools.
const (
	opMark           = '('
	opStop           = '.'
	opPop            = '0'
	opPopMark        = '1'
	opBinFloat       = 'G'
	opBinInt         = 'J'
	opBinInt1        = 'K'
	opBinInt2        = 'M'
	opNone           = 'N'
	opBinPersID      = 'Q'
	opReduce         = 'R'
	opBinUnicode     = 'X'
	opAppend         = 'a'
	opBuild          = 'b'
	opGlobal         = 'c'
	opAppends        = 'e'
	opBinGet         = 'h'
	opLongBinGet     = 'j'
	opBinPut         = 'q'
	opLongBinPut     = 'r'
	opSetItem        = 's'
	opTuple          = 't'
	opSetItems       = 'u'
	opEmptyTuple     = ')'
	opEmptyList      = ']'
	opEmptyDict      = '}'
	opProto          = 0x80
	opNewObj         = 0x81
	opTuple1         = 0x85
	opTuple2         = 0x86
	opTuple3         = 0x87
	opNewTrue        = 0x88
	opNewFalse       = 0x89
	opLong1          = 0x8a
	opLong4          = 0x8b
	opBinBytes       = 'B'
	opShortBinBytes  = 'C'
	opShortBinUnicod = 0x8c
	opBinUnicode8    = 0x8d
	opBinBytes8      = 0x8e
	opStackGlobal    = 0x93
	opMemoize        = 0x94
	opFrame          = 0x95
)

// maxIntBytes bounds a LONG: a number of 4,096 bits is beyond any real pickle.
const maxIntBytes = 512

// step runs one opcode.
func (m *machine) step(op byte) error {
	switch op {
	case opProto:
		return m.protocol()
	case opFrame:
		// A frame only says how much may be read ahead.
		_, err := m.take(8)
		return err
	case opMark:
		if m.pushed++; m.pushed > m.limits.Values {
			return m.broken("more than %d values", m.limits.Values)
		}
		m.marks = append(m.marks, len(m.stack))
		return nil
	case opPop:
		_, err := m.pop()
		return err
	case opPopMark:
		_, err := m.popMark()
		return err
	case opNone:
		return m.push(nil)
	case opNewTrue, opNewFalse:
		return m.push(op == opNewTrue)
	case opBinInt, opBinInt1, opBinInt2, opLong1, opLong4, opBinFloat:
		return m.number(op)
	case opShortBinUnicod, opBinUnicode, opBinUnicode8, opShortBinBytes, opBinBytes, opBinBytes8:
		return m.text(op)
	case opMemoize, opBinPut, opLongBinPut, opBinGet, opLongBinGet:
		return m.memory(op)
	case opGlobal, opStackGlobal, opReduce, opNewObj, opBuild, opBinPersID:
		return m.object(op)
	default:
		return m.container(op)
	}
}

func (m *machine) protocol() error {
	version, err := m.uint(1)
	if err == nil && version > 5 {
		return m.broken("protocol %d is newer than 5", version)
	}
	return err
}

func (m *machine) number(op byte) error {
	switch op {
	case opBinFloat:
		b, err := m.take(8)
		if err != nil {
			return err
		}
		return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case opLong1, opLong4:
		width := 1
		if op == opLong4 {
			width = 4
		}
		b, err := m.sized(width)
		if err != nil {
			return err
		}
		if len(b) > maxIntBytes {
			return m.broken("an integer of %d bytes", len(b))
		}
		return m.push(integer(b))
	}
	width := map[byte]int{opBinInt: 4, opBinInt1: 1, opBinInt2: 2}[op]
	n, err := m.uint(width)
	if err != nil {
		return err
	}
	if op == opBinInt {
		return m.push(int64(int32(n)))
	}
	return m.push(int64(n))
}

func (m *machine) text(op byte) error {
	widths := map[byte]int{opShortBinUnicod: 1, opBinUnicode: 4, opBinUnicode8: 8, opShortBinBytes: 1, opBinBytes: 4, opBinBytes8: 8}
	b, err := m.sized(widths[op])
	if err != nil {
		return err
	}
	switch op {
	case opShortBinUnicod, opBinUnicode, opBinUnicode8:
		return m.pushText(b)
	default:
		return m.push(Bytes(append([]byte(nil), b...)))
	}
}

func (m *machine) memory(op byte) error {
	if op == opMemoize {
		return m.remember(uint64(len(m.memo)))
	}
	width := 1
	if op == opLongBinPut || op == opLongBinGet {
		width = 4
	}
	index, err := m.uint(width)
	if err != nil {
		return err
	}
	if op == opBinPut || op == opLongBinPut {
		return m.remember(index)
	}
	return m.recall(index)
}
