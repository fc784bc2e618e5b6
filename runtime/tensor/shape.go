package tensor

import (
	"fmt"
	"slices"
	"strings"
)

// ShapeError is an operation called on tensors that do not fit together. Every
// device reports the same ones, through Sync or Read.
type ShapeError struct {
	Op      string   // the operation's name
	Why     string   // the rule that is broken
	Tensors []string // each operand as "name dtype [shape]"
}

// Error returns one line with the operation, the rule and every operand.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("tensor: %s: %s (%s)", e.Op, e.Why, strings.Join(e.Tensors, ", "))
}

// operand is a tensor with the name that the operation's documentation gives it.
type operand struct {
	name string
	t    Tensor
}

// rule is one condition with the words to say when it does not hold.
type rule struct {
	ok  bool
	why string
}

func check(op string, operands []operand, rules ...rule) error {
	for _, o := range operands {
		if slices.ContainsFunc(o.t.Shape, func(d int) bool { return d < 0 }) {
			return newShapeError(op, o.name+" has a negative dimension", operands)
		}
	}
	for _, r := range rules {
		if !r.ok {
			return newShapeError(op, r.why, operands)
		}
	}
	return nil
}

func newShapeError(op, why string, operands []operand) error {
	e := &ShapeError{Op: op, Why: why}
	for _, o := range operands {
		e.Tensors = append(e.Tensors, fmt.Sprintf("%s %v %v", o.name, o.t.DType, o.t.Shape))
	}
	return e
}

func isF32(ts ...Tensor) rule {
	return rule{allOf(F32, ts), "operands other than weights and indices are F32"}
}

func isI32(t Tensor) rule {
	return rule{t.DType == I32 && len(t.Shape) == 1, "indices are I32 of one dimension"}
}

func allOf(d DType, ts []Tensor) bool {
	return !slices.ContainsFunc(ts, func(t Tensor) bool { return t.DType != d })
}

func ranks(n int, ts ...Tensor) rule {
	bad := slices.ContainsFunc(ts, func(t Tensor) bool { return len(t.Shape) != n })
	return rule{!bad, fmt.Sprintf("operands have %d dimensions", n)}
}

// dim returns dimension i, or -1 where the tensor has fewer; negative i counts
// from the end.
func (t Tensor) dim(i int) int {
	if i < 0 {
		i += len(t.Shape)
	}
	if i < 0 || i >= len(t.Shape) {
		return -1
	}
	return t.Shape[i]
}

// rowLen returns the number of elements in one step of the first dimension.
func (t Tensor) rowLen() int {
	if len(t.Shape) == 0 {
		return -1
	}
	n := 1
	for _, d := range t.Shape[1:] {
		n *= d
	}
	return n
}

// Weight reports whether d can be the type of a weight matrix.
func (d DType) Weight() bool {
	return d != I32 && d <= Q4_1
}

func isWeight(t Tensor) rule {
	elements, _ := t.DType.Block()
	ok := t.DType.Weight() && t.dim(-1)%elements == 0 && t.Offset%elements == 0
	return rule{ok, "a weight's rows are whole blocks of a weight type"}
}

// CheckEmbed reports operands that do not fit [Device.Embed].
func CheckEmbed(dst, table, ids Tensor) error {
	return check("Embed", []operand{{"dst", dst}, {"table", table}, {"ids", ids}},
		isF32(dst), isI32(ids), ranks(2, dst, table), isWeight(table),
		rule{dst.dim(0) == ids.dim(0), "dst has one row for each id"},
		rule{dst.dim(1) == table.dim(1), "dst and table have rows of one length"})
}

// CheckRMSNorm reports operands that do not fit [Device.RMSNorm].
func CheckRMSNorm(dst, x, weight Tensor) error {
	return check("RMSNorm", []operand{{"dst", dst}, {"x", x}, {"weight", weight}},
		isF32(dst, x, weight), ranks(1, weight),
		rule{slices.Equal(dst.Shape, x.Shape), "dst and x have one shape"},
		rule{x.dim(-1) == weight.dim(0), "weight has the last dimension of x"})
}

// CheckMatMul reports operands that do not fit [Device.MatMul].
func CheckMatMul(dst, x, w Tensor) error {
	return check("MatMul", []operand{{"dst", dst}, {"x", x}, {"w", w}},
		isF32(dst, x), ranks(2, dst, x, w), isWeight(w),
		rule{x.dim(1) == w.dim(1), "x and w have rows of one length"},
		rule{dst.dim(0) == x.dim(0), "dst has the rows of x"},
		rule{dst.dim(1) == w.dim(0), "dst has a column for each row of w"})
}

// CheckAdd reports operands that do not fit [Device.Add].
func CheckAdd(dst, a, b Tensor) error {
	row := len(b.Shape) == 1 && b.dim(0) == a.dim(-1)
	return check("Add", []operand{{"dst", dst}, {"a", a}, {"b", b}},
		isF32(dst, a, b),
		rule{slices.Equal(dst.Shape, a.Shape), "dst and a have one shape"},
		rule{row || slices.Equal(a.Shape, b.Shape), "b has the shape of a or is one row of it"})
}

// CheckSiLUMul reports operands that do not fit [Device.SiLUMul].
func CheckSiLUMul(dst, gate, up Tensor) error {
	return check("SiLUMul", []operand{{"dst", dst}, {"gate", gate}, {"up", up}},
		isF32(dst, gate, up),
		rule{slices.Equal(dst.Shape, gate.Shape) && slices.Equal(dst.Shape, up.Shape), "operands have one shape"})
}

// CheckRoPE reports operands that do not fit [Device.RoPE].
func CheckRoPE(x, positions, invFreq Tensor) error {
	return check("RoPE", []operand{{"x", x}, {"positions", positions}, {"invFreq", invFreq}},
		isF32(x, invFreq), isI32(positions), ranks(3, x), ranks(1, invFreq),
		rule{x.dim(0) == positions.dim(0), "x has one row for each position"},
		rule{x.dim(2) == 2*invFreq.dim(0), "invFreq is half a head long"})
}

// CheckCopyRows reports operands that do not fit [Device.CopyRows].
func CheckCopyRows(dst, src, rows Tensor) error {
	return check("CopyRows", []operand{{"dst", dst}, {"src", src}, {"rows", rows}},
		isF32(dst, src), isI32(rows),
		rule{dst.rowLen() == src.rowLen(), "dst and src have rows of one length"},
		rule{dst.dim(0) == rows.dim(0), "dst has one row for each index"})
}

// CheckStoreRows reports operands that do not fit [Device.StoreRows].
func CheckStoreRows(dst, src, rows Tensor) error {
	return check("StoreRows", []operand{{"dst", dst}, {"src", src}, {"rows", rows}},
		isF32(dst, src), isI32(rows),
		rule{dst.rowLen() == src.rowLen(), "dst and src have rows of one length"},
		rule{src.dim(0) == rows.dim(0), "src has one row for each index"})
}

// CheckAttention reports operands that do not fit [Device.Attention], pages
// outside the cache among them.
func CheckAttention(dst, q Tensor, kv KV, b AttentionBatch) error {
	operands := []operand{{"dst", dst}, {"q", q}, {"k", kv.K}, {"v", kv.V}}
	err := check("Attention", operands,
		isF32(dst, q, kv.K, kv.V), ranks(3, dst, q, kv.K, kv.V),
		rule{slices.Equal(dst.Shape, q.Shape), "dst and q have one shape"},
		rule{slices.Equal(kv.K.Shape, kv.V.Shape), "k and v have one shape"},
		rule{q.dim(2) == kv.K.dim(2), "q and k have one head length"},
		rule{kv.K.dim(1) > 0 && q.dim(1)%max(1, kv.K.dim(1)) == 0, "query heads are a multiple of key heads"},
		rule{kv.K.dim(0)%PageSize == 0, "the cache is whole pages"},
		rule{len(b.Seq) == q.dim(0) && len(b.Pos) == q.dim(0), "Seq and Pos name each query row"})
	if err != nil {
		return err
	}
	for i := range b.Seq {
		if why := b.badRow(i, kv.K.Shape[0]/PageSize); why != "" {
			return newShapeError("Attention", fmt.Sprintf("query row %d: %s", i, why), operands)
		}
	}
	return nil
}

// badRow says what is wrong with query row i, given the cache's pages.
func (b AttentionBatch) badRow(i, pages int) string {
	seq, pos := int(b.Seq[i]), int(b.Pos[i])
	if seq < 0 || seq >= len(b.Pages) {
		return fmt.Sprintf("sequence %d has no page list (there are %d)", seq, len(b.Pages))
	}
	need := pos/PageSize + 1
	if pos < 0 || need > len(b.Pages[seq]) {
		return fmt.Sprintf("position %d is outside its %d pages", pos, len(b.Pages[seq]))
	}
	for _, p := range b.Pages[seq][:need] {
		if p < 0 || int(p) >= pages {
			return fmt.Sprintf("page %d is outside the cache's %d", p, pages)
		}
	}
	return ""
}

// CheckIndices reports the first of ids outside [0, limit).
func CheckIndices(op string, ids []int32, limit int) error {
	for i, id := range ids {
		if id < 0 || int(id) >= limit {
			return fmt.Errorf("tensor: %s: index %d at row %d is outside [0, %d)", op, id, i, limit)
		}
	}
	return nil
}

// CheckHost reports host data whose length or shape does not fit its type.
func CheckHost(h Host) error {
	t := Tensor{DType: h.DType, Shape: h.Shape}
	if _, bytes := h.DType.Block(); bytes == 0 || len(h.Shape) == 0 {
		return fmt.Errorf("tensor: load %v %v: unknown type or no shape", h.DType, h.Shape)
	}
	err := check("Load", []operand{{"host", t}}, rule{h.DType == I32 || isWeight(t).ok, "rows are whole blocks"})
	if err != nil {
		return err
	}
	if want := h.DType.Bytes(t.Len()); len(h.Data) != want {
		return fmt.Errorf("tensor: load %v %v: has %d bytes, needs %d", h.DType, h.Shape, len(h.Data), want)
	}
	return nil
}
