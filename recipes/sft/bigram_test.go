package sft

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/coderl/cr/runtime/train"
)

// bigram is a model small enough to be trained here in full: a table of logits,
// row by last token, column by next, with AdamW as torch has it.
type bigram struct {
	Vocab, Updates  int
	Table, Mean, Sq []float64

	grad  []float64
	calls int
	// at is called before each of the trainer's calls, with its number and name.
	at func(call int, name string) error
	// losses, where given, replace the validation losses in turn.
	losses []float64
	clip   float64
}

const bigramVocab = 7

// openBigram makes a new table, or reads a checkpoint.
func openBigram(checkpoint string) (*bigram, error) {
	size := bigramVocab * bigramVocab
	b := &bigram{
		Vocab: bigramVocab, Table: make([]float64, size), grad: make([]float64, size),
		Mean: make([]float64, size), Sq: make([]float64, size), clip: 1,
	}
	if checkpoint == "" {
		return b, nil
	}
	text, err := os.ReadFile(filepath.Join(checkpoint, "bigram.json"))
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(text, b)
}

func (b *bigram) call(name string) error {
	b.calls++
	if b.at == nil {
		return nil
	}
	return b.at(b.calls, name)
}

// row is the log-softmax of a token's row.
func (b *bigram) row(token int32) []float64 {
	logits := b.Table[int(token)*b.Vocab : int(token+1)*b.Vocab]
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(l)
	}
	out := make([]float64, b.Vocab)
	for i, l := range logits {
		out[i] = l - math.Log(sum)
	}
	return out
}

func (b *bigram) LogProbs(_ context.Context, batch train.Batch, _ float32) (logp, entropy []float32, err error) {
	if err := b.call("logprobs"); err != nil {
		return nil, nil, err
	}
	for i, row := range batch.Rows {
		logp = append(logp, float32(b.row(batch.IDs[row])[batch.Targets[i]]))
	}
	if len(b.losses) > 0 {
		for i := range logp {
			logp[i] = float32(-b.losses[0])
		}
		b.losses = b.losses[1:]
	}
	return logp, make([]float32, len(logp)), nil
}

func (b *bigram) Backward(_ context.Context, batch train.Batch, _ float32, loss train.Loss) error {
	if err := b.call("backward"); err != nil {
		clear(b.grad)
		return err
	}
	for i, row := range batch.Rows {
		token, target := batch.IDs[row], batch.Targets[i]
		if next := batch.IDs[row+1]; next != target {
			return fmt.Errorf("row %d predicts %d, next is %d", row, target, next)
		}
		logp := b.row(token)
		dlogp := []float32{0}
		loss(i, i+1, []float32{float32(logp[target])}, []float32{0}, dlogp, []float32{0})
		for j, lp := range logp {
			hot := 0.0
			if int32(j) == target {
				hot = 1
			}
			b.grad[int(token)*b.Vocab+j] += float64(dlogp[0]) * (hot - math.Exp(lp))
		}
	}
	return nil
}

func (b *bigram) Step(lr float64) (train.Update, error) {
	if err := b.call("step"); err != nil {
		return train.Update{}, err
	}
	norm := 0.0
	for _, g := range b.grad {
		norm += g * g
	}
	norm = math.Sqrt(norm)
	defer clear(b.grad)
	if math.IsNaN(norm) {
		return train.Update{GradNorm: norm, Skipped: true}, nil
	}
	b.Updates++
	scale := min(1, b.clip/(norm+1e-6))
	c1, c2 := 1-math.Pow(0.9, float64(b.Updates)), 1-math.Pow(0.95, float64(b.Updates))
	for i, g := range b.grad {
		g *= scale
		b.Table[i] -= lr * 0.01 * b.Table[i]
		b.Mean[i] = 0.9*b.Mean[i] + 0.1*g
		b.Sq[i] = 0.95*b.Sq[i] + 0.05*g*g
		b.Table[i] -= lr / c1 * b.Mean[i] / (math.Sqrt(b.Sq[i])/math.Sqrt(c2) + 1e-8)
	}
	return train.Update{GradNorm: norm}, nil
}

func (b *bigram) Save(dir string) error {
	if err := b.call("save"); err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bigram.json"), text, 0o644)
}

func (b *bigram) Close() error { return nil }
