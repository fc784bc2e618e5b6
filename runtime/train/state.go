package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// The files of a state.
const (
	stateTensors = "optimizer.safetensors" // NAME (the F32 weight), NAME.mean, NAME.square
	stateNumbers = "optimizer.json"
)

// numbers is the state's small part.
type numbers struct {
	Updates int   `json:"updates"` // that AdamW has made
	LoRA    *LoRA `json:"lora"`
}

// saveState writes what the next update depends on: the trained weights in full
// precision, the optimiser's moments and its count.
func (t *Trainer) saveState(dir string) error {
	var list []weights.Unwritten
	for _, p := range t.parameters {
		for suffix, x := range map[string]tensor.Tensor{"": p.master, ".mean": p.mean, ".square": p.square} {
			list = append(list, weights.Unwritten{Name: p.name + suffix, DType: tensor.F32, Shape: x.Shape, Write: func(w io.Writer) error {
				return t.save(w, tensor.F32, x)
			}})
		}
	}
	if err := weights.WriteTensors(filepath.Join(dir, stateTensors), list); err != nil {
		return fmt.Errorf("save the optimiser: %w", err)
	}
	data, err := json.Marshal(numbers{Updates: t.updates, LoRA: t.options.LoRA})
	if err != nil {
		return fmt.Errorf("save the optimiser: %w", err)
	}
	return atomicfile.WriteBytes(filepath.Join(dir, stateNumbers), append(data, '\n'))
}

// Restore continues from a checkpoint that [Trainer.Save] wrote, of the same
// model with the same options: what follows is bit-equal to a run that was never
// interrupted.
func (t *Trainer) Restore(dir string) error {
	err := t.restore(dir)
	if err != nil {
		return fmt.Errorf("restore %s: %w", dir, err)
	}
	return nil
}

func (t *Trainer) restore(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, stateNumbers))
	if err != nil {
		return err
	}
	var n numbers
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&n); err != nil {
		return fmt.Errorf("%s: %w: %w", stateNumbers, weights.ErrBadCheckpoint, err)
	}
	if n.Updates < 0 {
		return fmt.Errorf("%s: %w: %d updates", stateNumbers, weights.ErrBadCheckpoint, n.Updates)
	}
	if !sameLoRA(n.LoRA, t.options.LoRA) {
		return fmt.Errorf("the checkpoint was trained with LoRA %+v, this run has %+v", n.LoRA, t.options.LoRA)
	}
	file, err := weights.OpenSafetensors(filepath.Join(dir, stateTensors))
	if err != nil {
		return err
	}
	err = t.restoreTensors(file)
	if err == nil {
		t.updates = n.Updates
	}
	return errors.Join(err, file.Close())
}

func sameLoRA(a, b *LoRA) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Rank == b.Rank && a.Alpha == b.Alpha && slices.Equal(a.Targets, b.Targets)
}

// restoreTensors reads the weights and moments of all parameters; it checks all
// before it changes any.
func (t *Trainer) restoreTensors(file *weights.SafetensorsFile) error {
	if file.Len() != 3*len(t.parameters) {
		return fmt.Errorf("%s: %d tensors, the model's training has %d", stateTensors, file.Len(), 3*len(t.parameters))
	}
	hosts := make([]tensor.Host, 0, file.Len())
	for _, p := range t.parameters {
		for _, suffix := range []string{"", ".mean", ".square"} {
			h, err := file.Tensor(p.name + suffix)
			if err != nil {
				return err
			}
			if h.DType != tensor.F32 || !slices.Equal(h.Shape, p.master.Shape) {
				return fmt.Errorf("%s: %s is %s %v, want F32 %v", stateTensors, p.name+suffix, h.DType, h.Shape, p.master.Shape)
			}
			hosts = append(hosts, h)
		}
	}
	for i, p := range t.parameters {
		for j, x := range []tensor.Tensor{p.master, p.mean, p.square} {
			t.load(x, hosts[3*i+j])
		}
		p.refresh(t.dev)
	}
	t.zeroGradients()
	return t.dev.Sync()
}
