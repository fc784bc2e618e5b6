// Package model holds the decoder architectures as short graphs of tensor
// operations. A model runs on any [tensor.Device].
package model

// Arch names a decoder architecture.
type Arch string

// The architectures.
const (
	Qwen3 Arch = "qwen3"
	Llama Arch = "llama"
)

// Config is what a checkpoint says about its model, whatever the file format.
type Config struct {
	Arch          Arch
	Hidden        int // width of the residual stream
	Layers        int
	Heads         int // query heads
	KVHeads       int
	HeadDim       int // taken from the file; Hidden/Heads only where absent
	FFN           int // intermediate size
	Vocab         int
	Context       int // longest sequence, in tokens
	NormEps       float32
	RopeTheta     float64
	RopeScaling   *RopeScaling // nil: none
	TieEmbeddings bool
	AttentionBias bool // q, k, v (and for Llama o) projections carry a bias
	MLPBias       bool
	EOS           []int32 // every id that ends a sequence: generation config first, then config
	BOS           int32   // -1: none
}

// RopeScaling is a checkpoint's extension of RoPE to longer contexts.
type RopeScaling struct {
	Type               string // "linear", "llama3", "yarn", "divisors"
	Factor             float64
	LowFreqFactor      float64
	HighFreqFactor     float64
	OriginalContext    int
	AttentionFactor    float64
	BetaFast, BetaSlow float64
	// Divisors, for type "divisors": inverse frequency i is divided by entry i
	// [HeadDim/2]. GGUF stores Llama 3's scaling in this worked-out form.
	Divisors []float32
}
