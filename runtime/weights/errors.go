package weights

import (
	"errors"
	"fmt"
)

// The faults of a checkpoint that need no further detail. Each is wrapped with
// the path, and the tensor where there is one.
var (
	// ErrBadCheckpoint is every refusal of a checkpoint for what it holds or
	// lacks, whatever the finer error beside it; failures to read are not.
	ErrBadCheckpoint = errors.New("unusable checkpoint")
	// ErrPointer: a file holds the text that Git LFS leaves in place of weights
	// it has not fetched.
	ErrPointer = errors.New("LFS pointer, not weights: fetch the real file (git lfs pull, or cr download)")
	// ErrCorrupt: the bytes contradict themselves: a truncated file, offsets
	// that overlap or leave the file, a size no real model has.
	ErrCorrupt = errors.New("corrupt weight file")
	// ErrUntied: neither an output projection is stored, nor does the
	// configuration tie it to the embeddings.
	ErrUntied = errors.New("lm_head.weight is missing and tie_word_embeddings is false")
)

// corrupt describes a fault of the bytes; it is an [ErrCorrupt].
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// refusal marks an error as [ErrBadCheckpoint] without changing its words.
type refusal struct{ error }

func (r refusal) Unwrap() []error { return []error{ErrBadCheckpoint, r.error} }

// MissingShardError reports a shard that the index names and the folder lacks.
type MissingShardError struct{ Shard string }

func (e *MissingShardError) Error() string { return "missing " + e.Shard }

// MissingTensorError reports a tensor that no file of the checkpoint holds or,
// with a Shard, not the shard in which the index puts it.
type MissingTensorError struct{ Tensor, Shard string }

func (e *MissingTensorError) Error() string {
	if e.Shard == "" {
		return fmt.Sprintf("tensor %s is missing", e.Tensor)
	}
	return fmt.Sprintf("tensor %s not in shard %s, where the index puts it", e.Tensor, e.Shard)
}

// DuplicateTensorError reports a tensor stored twice, in the files named (the
// same one twice, if both copies are in it).
type DuplicateTensorError struct{ Tensor, First, Second string }

func (e *DuplicateTensorError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("tensor %s is stored twice in %s", e.Tensor, e.First)
	}
	return fmt.Sprintf("tensor %s is stored twice, in %s and in %s", e.Tensor, e.First, e.Second)
}

// ShapeError reports a tensor whose shape is not what the configuration implies.
type ShapeError struct {
	Tensor    string
	Want, Got []int
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("tensor %s has shape %v, the configuration asks for %v", e.Tensor, e.Got, e.Want)
}

// UnsupportedTypeError reports an element type that this program cannot use.
type UnsupportedTypeError struct{ Tensor, Type string }

func (e *UnsupportedTypeError) Error() string {
	return fmt.Sprintf("element type not supported yet: %s (tensor %s)", e.Type, e.Tensor)
}

// UnsupportedArchitectureError reports a model that is none of those in
// package model.
type UnsupportedArchitectureError struct{ Architecture string }

func (e *UnsupportedArchitectureError) Error() string {
	return fmt.Sprintf("architecture %q is not supported: use a Qwen3 or Llama model", e.Architecture)
}

// UnsupportedOptionError reports a setting that changes a model's results and
// that this program does not implement.
type UnsupportedOptionError struct{ Option, Value string }

func (e *UnsupportedOptionError) Error() string {
	return fmt.Sprintf("%s = %s is not supported", e.Option, e.Value)
}
