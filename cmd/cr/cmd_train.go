package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coderl/cr/recipes/checkpoint"
)

type trainCmd struct {
	SFT trainSFTCmd `cmd:"" name:"sft" help:"Fine-tune a model on conversations."`
	RL  trainRLCmd  `cmd:"" name:"rl" help:"Reinforce a model on problems that a sandbox judges."`
}

// givenAs is what names a data set: the flag --data where it came from there, the
// recipe's key else.
func givenAs(key, name, flag string) string {
	if key == "data.train" && name == flag {
		return "--data"
	}
	return key
}

// recipeName is the recipe to take: the one named, or that of the run in out.
func recipeName(named, out string) (string, error) {
	if named != "" {
		return named, nil
	}
	kept := filepath.Join(out, checkpoint.RecipeFile)
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--resume: %s holds no run to go on with (no %s): name the folder of one by --out, or begin one with --recipe", out, checkpoint.RecipeFile)
	}
	return kept, nil
}
