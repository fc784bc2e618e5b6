package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"

	sftdata "github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/sft"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/train"
	"github.com/coderl/cr/runtime/weights"
)

// trainJob is all that a run needs before its first step.
type trainJob struct {
	flags      *trainSFTCmd
	recipe     preset.SFT
	folder     string // of the model to begin from
	made       string // a folder that goes with the job; "" for none
	text       *chat.Model
	config     model.Config
	stored     int64 // bytes of the weights as they are stored
	training   examples.Set
	validation examples.Set
	plan       sft.Plan
}

func (j *trainJob) close() {
	if j.text != nil {
		_ = j.text.Close()
	}
	if j.made != "" {
		_ = os.RemoveAll(j.made) // a temporary folder is no reason to fail
	}
}

// prepare finds the model and makes examples of the conversations.
func (t *trainSFTCmd) prepare(ctx context.Context, c *console, r preset.SFT) (job *trainJob, err error) {
	j := &trainJob{flags: t, recipe: r}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	if err := j.findModel(ctx, c); err != nil {
		return nil, err
	}
	if err := j.readModel(); err != nil {
		return nil, err
	}
	longest := r.Data.MaxLength
	if longest > j.config.Context {
		longest = j.config.Context
		c.note("data.max_length %d is beyond the model's context: %d", r.Data.MaxLength, longest)
	}
	if j.training, err = j.load(ctx, c, "data.train", r.Data.Train, longest); err != nil {
		return nil, err
	}
	switch r.Data.Validation {
	case "":
	case r.Data.Train:
		j.validation = j.training
	default:
		if j.validation, err = j.load(ctx, c, "data.validation", r.Data.Validation, longest); err != nil {
			return nil, err
		}
	}
	j.plan, err = sft.NewPlan(r, j.training.Examples, j.validation.Examples, t.Steps)
	return j, badInput(err)
}

// findModel sets the folder to begin from and the tokenizer.
func (j *trainJob) findModel(ctx context.Context, c *console) error {
	name, key := j.recipe.Model.Path, "model.path"
	if j.recipe.Model.New != nil {
		name, key = j.recipe.Model.New.Tokenizer, "model.new.tokenizer"
	}
	folder, err := modelFlags{Model: name, Cache: j.flags.Cache}.path(ctx, c)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if j.text, err = examples.OpenModel(folder); err != nil {
		return badInput(fmt.Errorf("%s: %w", key, err))
	}
	j.folder = folder
	if j.recipe.Model.New == nil {
		return nil
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usagef("%s %s: want a folder in Hugging Face layout", key, name)
	}
	if j.made, err = os.MkdirTemp("", "cr-new-model-"); err != nil {
		return fmt.Errorf("a folder for the new model: %w", err)
	}
	j.folder = j.made
	return sft.WriteNewModel(j.made, *j.recipe.Model.New, folder, j.text)
}

// readModel reads the model's configuration and the size of its weights.
func (j *trainJob) readModel() error {
	if j.made != "" {
		var err error
		j.config, err = weights.ReadConfig(j.folder)
		return err
	}
	var err error
	j.config, j.stored, err = readModel(j.folder)
	return err
}

// readModel reads a model's configuration and how many bytes its weights take as
// they are stored.
func readModel(folder string) (config model.Config, stored int64, err error) {
	checkpoint, err := weights.Open(folder)
	if err != nil {
		return config, 0, err
	}
	for _, name := range checkpoint.Names() {
		host, err := checkpoint.Tensor(name)
		if err != nil {
			return config, 0, errors.Join(err, checkpoint.Close())
		}
		stored += int64(len(host.Data))
	}
	return checkpoint.Config(), stored, checkpoint.Close()
}

// open makes the trainer, as the recipe begins or as a checkpoint left it.
func (j *trainJob) open(ctx context.Context, saved string) (sft.Trainer, error) {
	t, err := openTrainer(ctx, j.folder, j.options(), saved)
	if err != nil {
		return nil, err // no trainer, where a nil one would look like one
	}
	return t, nil
}

// openTrainer opens a model to train, as it is or as a checkpoint left it where
// saved is not "".
func openTrainer(ctx context.Context, folder string, o train.Options, saved string) (*train.Trainer, error) {
	if saved != "" {
		if err := wholeCheckpoint(saved); err != nil {
			return nil, err
		}
	}
	t, err := train.Open(ctx, folder, o)
	if err != nil {
		return nil, err
	}
	if saved != "" {
		if err := t.Restore(saved); err != nil {
			return nil, errors.Join(checkpoint.Damaged(saved, err), t.Close())
		}
	}
	return t, nil
}

// wholeCheckpoint tells whether all files of tensors in a checkpoint have the
// length that they say.
func wholeCheckpoint(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	for _, path := range paths {
		file, openErr := weights.OpenSafetensors(path)
		if openErr != nil {
			return checkpoint.Damaged(dir, openErr)
		}
		err = errors.Join(err, file.Close())
	}
	return err
}

// load makes examples of a data set and says what became of its rows.
func (j *trainJob) load(ctx context.Context, c *console, key, name string, longest int) (examples.Set, error) {
	files, err := j.flags.Cache.dataFiles(ctx, c, givenAs(key, name, j.flags.Data), name)
	if err != nil {
		return examples.Set{}, err
	}
	d := j.recipe.Data
	columns := sftdata.DefaultColumns()
	columns.Messages, columns.Tools = d.MessagesKey, d.ToolsKey
	bar := newRowProgress(c)
	set, err := examples.Load(ctx, files, j.text, examples.Options{
		Thinking: examples.Thinking(d.Thinking), TooLong: examples.TooLong(d.OverLong), Faulty: examples.Faulty(d.Faulty),
		Mask: examples.Mask(d.Mask), MaxLength: longest, Columns: columns, Threads: j.flags.Threads,
		Progress: func(done, skipped int) { bar.show("render", done, -1, fmt.Sprintf("%d left out", skipped)) },
	})
	bar.end()
	if err != nil {
		return set, j.rowError(key, err)
	}
	n := set.Counts
	c.note("%s: %s, %s, %s, %d of them trained, longest %d%s",
		key, amount.Of(n.Rows, "conversation"), amount.Of(n.Examples, "example"), amount.Of(n.Tokens, "token"), n.Targets, n.Longest, leftOut(n))
	return set, nil
}

// leftOut says what did not become an example as it stands.
func leftOut(n examples.Counts) string {
	var b strings.Builder
	reasons := make([]string, 0, len(n.Dropped))
	for reason := range n.Dropped {
		reasons = append(reasons, string(reason))
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(&b, "; dropped %d: %s", n.Dropped[examples.Reason(reason)], reason)
	}
	if n.Truncated > 0 {
		fmt.Fprintf(&b, "; truncated %d", n.Truncated)
	}
	if n.Altered > 0 {
		fmt.Fprintf(&b, "; %d with text that the template changes", n.Altered)
	}
	return b.String()
}

// rowError adds the settings that let a refused row pass.
func (j *trainJob) rowError(key string, err error) error {
	var row *examples.RowError
	switch {
	case errors.As(err, &row) && row.Reason == examples.OverLong:
		return usagef("%s: %w (--set data.over_long=drop or truncate, or data.max_length)", key, err)
	case errors.As(err, &row):
		return usagef("%s: %w (--set data.faulty=drop leaves such rows out)", key, err)
	case errors.Is(err, examples.ErrNoExamples), errors.Is(err, chat.ErrNoTemplate):
		return usagef("%s: %w", key, err)
	}
	return inputFault(err)
}

// options are the trainer's.
func (j *trainJob) options() train.Options {
	r := j.recipe
	o := trainerOptions(r.Model, r.Optim, j.threads(), r.Seed)
	o.Scratch = r.Model.New != nil
	return o
}

// trainerOptions are what a recipe of any kind says to the trainer.
func trainerOptions(m preset.Model, optim preset.Optim, threads int, seed uint64) train.Options {
	o := modelOptions(m)
	o.Threads, o.ClipNorm, o.Seed = threads, optim.Clip, seed
	o.AdamW = train.AdamW{Beta1: optim.Betas[0], Beta2: optim.Betas[1], Eps: optim.Eps, WeightDecay: optim.WeightDecay}
	return o
}

// modelOptions are what a recipe's model section says to the trainer.
func modelOptions(m preset.Model) train.Options {
	o := train.Options{DType: tensor.F32, Checkpointing: m.Checkpointing}
	if m.SaveDType != "model" {
		o.Save = train.SaveType(m.SaveDType)
	}
	if m.DType == "bf16" {
		o.DType = tensor.BF16
	}
	if l := m.LoRA; l.Rank > 0 {
		o.LoRA = &train.LoRA{Rank: l.Rank, Alpha: l.Alpha, Targets: l.Targets}
	}
	return o
}

func (j *trainJob) threads() int { return cmp.Or(j.flags.Threads, goruntime.NumCPU()) }

// train runs the recipe.
func (j *trainJob) train(ctx context.Context, c *console) error {
	if err := j.fits(); err != nil {
		return err
	}
	run, err := j.run(ctx)
	if err != nil {
		return err
	}
	bar := newTrainProgress(c)
	run.Console, run.Progress, run.Note = bar, bar.show, bar.note
	result, err := sft.Run(ctx, run)
	bar.end()
	if err != nil {
		return trainError(err)
	}
	return c.result(result, func(w io.Writer) error { return describeRun(w, result) })
}

// run is the run's configuration, without what it shows.
func (j *trainJob) run(ctx context.Context) (sft.Config, error) {
	// A checkpoint has all weights that are trained, and no others.
	base, err := train.Identify(ctx, j.folder, j.options(), j.recipe.Model.LoRA.Rank > 0)
	return sft.Config{
		Recipe: j.recipe, Version: version, Threads: j.threads(), Steps: j.flags.Steps, Resume: j.flags.Resume, Base: checkpoint.Base(base),
		Train: j.training.Examples, Validation: j.validation.Examples, Open: j.open,
	}, err
}

// trainError sorts a run's failure and adds the flags that are the way on.
func trainError(err error) error {
	switch {
	case errors.Is(err, checkpoint.ErrRunExists):
		return usagef("%w (--resume, --out)", err)
	case errors.Is(err, checkpoint.ErrSettingsDiffer), errors.Is(err, checkpoint.ErrDamaged), errors.Is(err, examples.ErrTooFew):
		return badInput(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (make room, then the same command with --resume)", err)
	case errors.Is(err, checkpoint.ErrNoFolder):
		return usagef("%w (--out)", err)
	case errors.Is(err, checkpoint.ErrInterrupted):
		return fmt.Errorf("%w (the same command with --resume)", err)
	case errors.Is(err, checkpoint.ErrLocked):
		return fmt.Errorf("%w (--out)", err)
	}
	return err
}

func describeRun(w io.Writer, r sft.Result) error {
	fmt.Fprintf(w, "%s, %s", amount.Of(r.Steps, "step"), amount.Of(r.Tokens, "token"))
	if r.TrainLoss != nil {
		fmt.Fprintf(w, ", train loss %.4f", *r.TrainLoss)
	}
	if r.ValidationLoss != nil {
		fmt.Fprintf(w, ", validation loss %.4f", *r.ValidationLoss)
	}
	if r.StoppedEarly {
		fmt.Fprint(w, ", stopped early")
	}
	fmt.Fprintf(w, "\n%s\n", r.Checkpoint)
	if r.Best != "" && r.Best != r.Checkpoint {
		fmt.Fprintf(w, "best: %s\n", filepath.Base(r.Best))
	}
	return nil
}
