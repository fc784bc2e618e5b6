package train

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// storedWeight is a weight that a saved model holds.
type storedWeight struct {
	name   string
	shape  []int
	dtype  tensor.DType // that it is saved in unless told otherwise
	weight *weight
}

// savedType is the type of a weight in a saved model: from scratch, what the
// config names; of a folder, as it was; of a GGUF, which has types that a folder
// cannot hold, F32.
func (t *Trainer) savedType(stored tensor.DType) tensor.DType {
	switch {
	case t.options.Scratch:
		return t.initType
	case !isFolder(t.path):
		return tensor.F32
	}
	return stored
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sideFiles are the files beside the model that was opened.
func (t *Trainer) sideFiles() (*weights.SideFiles, error) {
	if t.checkpoint == nil {
		return weights.ReadSideFiles(t.path)
	}
	return sideFilesOf(t.checkpoint)
}

// sideFilesOf copies those of a folder, and makes those of a GGUF.
func sideFilesOf(c *weights.Checkpoint) (*weights.SideFiles, error) {
	if isFolder(c.Path()) {
		return weights.ReadSideFiles(c.Path())
	}
	v := c.Vocabulary()
	if v == nil {
		return weights.MakeSideFiles(c.Config(), nil)
	}
	files, err := chat.Vocabulary{
		Model: v.Model, Pre: v.Pre, Tokens: v.Tokens, Types: v.Types, Merges: v.Merges,
		BOS: v.BOS, EOS: v.EOS, PAD: v.PAD, AddBOS: v.AddBOS, ChatTemplate: v.ChatTemplate,
	}.Files()
	if err != nil {
		return nil, err
	}
	return weights.MakeSideFiles(c.Config(), files)
}

// Export writes a model, above all a quantised .gguf, in Hugging Face layout
// with every weight as F32 or BF16. The folder out appears whole or not at all;
// it must not exist, or be empty.
func Export(ctx context.Context, path, out string, dtype tensor.DType) error {
	c, err := weights.Open(path)
	if err != nil {
		return err
	}
	beside, err := sideFilesOf(c)
	if err == nil {
		err = weights.Export(ctx, c, out, dtype, beside)
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("export %s: %w", path, err)
	}
	return nil
}

// initType is the type in which a model from scratch is saved: what its config
// names, else F32.
func initType(dir string) (tensor.DType, error) {
	beside, err := weights.ReadSideFiles(dir)
	if err != nil {
		return tensor.F32, err
	}
	name, err := beside.DType()
	switch name {
	case "bfloat16":
		return tensor.BF16, err
	case "float16":
		return tensor.F16, err
	default:
		return tensor.F32, err
	}
}
