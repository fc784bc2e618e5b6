package tensor

// Device allocates memory and runs the operations of a decoder. Destinations
// come first, as in copy. Unless said otherwise tensors are F32, and dst may be
// the same view as an input of its shape.
//
// Every operation computes each output row from its own inputs alone, with a
// reduction order that depends on neither the number of rows nor of threads:
// a row's result is bit-equal whatever its neighbours (batch, chunk, prefix).
//
// A Device is used by one goroutine at a time.
type Device interface {
	// Name is the registered name: "cpu", "ascend".
	Name() string

	// New allocates a zeroed tensor.
	New(dtype DType, shape ...int) (Tensor, error)
	// Load makes host data usable as a weight. A device that shares the host's
	// memory keeps h.Data itself, so the caller keeps the mapping open until
	// the tensor is freed.
	Load(h Host) (Tensor, error)
	// Write copies values into dst (F32); WriteInts into dst (I32).
	Write(dst Tensor, values []float32)
	WriteInts(dst Tensor, values []int32)
	// Read waits for queued work and copies src (F32) out.
	Read(values []float32, src Tensor) error
	// Sync waits for queued work and returns the first error since the last
	// Sync or Read.
	Sync() error
	// Close frees everything the device still holds.
	Close() error

	// Embed: dst[i] = table[ids[i]]; table [vocab, d] of any weight type,
	// ids I32 [n], dst [n, d].
	Embed(dst, table, ids Tensor)
	// RMSNorm over the last dimension: dst = x / sqrt(mean(x²)+eps) · weight.
	RMSNorm(dst, x, weight Tensor, eps float32)
	// MatMul: dst[m,n] = Σ_k x[m,k]·w[n,k]; w of any weight type, as stored.
	MatMul(dst, x, w Tensor)
	// Add: dst = a + b, elementwise; b may be one row [d], added to each row.
	Add(dst, a, b Tensor)
	// SiLUMul: dst = gate·sigmoid(gate)·up.
	SiLUMul(dst, gate, up Tensor)
	// RoPE rotates x [n, heads, headDim] in place, half-split pairs
	// (i, i+headDim/2), by angle positions[row]·invFreq[i]; invFreq
	// [headDim/2], positions I32 [n]. scale multiplies sine and cosine.
	RoPE(x, positions, invFreq Tensor, scale float32)
	// CopyRows: dst[i] = src[rows[i]] (gather); rows I32 [n].
	CopyRows(dst, src, rows Tensor)
	// StoreRows: dst[rows[i]] = src[i] (scatter); rows I32 [n].
	StoreRows(dst, src, rows Tensor)
	// Attention is causal attention over a paged cache.
	Attention(dst, q Tensor, kv KV, b AttentionBatch)
}

// KV is one layer's paged key and value cache, each
// [pages·PageSize, kvHeads, headDim].
type KV struct {
	K, V Tensor
}

// PageSize is the number of positions in a page of the KV cache. Attention
// reduces page by page, so it is part of the numerics.
const PageSize = 32

// AttentionBatch says which cache rows each query row sees. Query row i belongs
// to sequence Seq[i] and sits at position Pos[i]: it attends to positions
// 0..Pos[i]. Position p of sequence s is cache row
// Pages[s][p/PageSize]·PageSize + p%PageSize. The lists are host data: a device
// copies what it needs before Attention returns.
type AttentionBatch struct {
	Seq, Pos []int32
	Pages    [][]int32
	Scale    float32
}
