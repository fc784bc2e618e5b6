package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/runtime/chat"
)

// What stands around trained text: colours on a terminal, signs elsewhere.
const (
	colourOn, colourOff = "\x1b[1;32m", "\x1b[0m"
	signOn, signOff     = "⟦", "⟧"
)

// rendering is what --render --json prints.
type rendering struct {
	Row      string             `json:"row"`
	Text     string             `json:"text"`
	IDs      []int32            `json:"ids"`
	Mask     []int              `json:"mask"` // 1: the token is trained
	Problems []examples.Finding `json:"problems"`
}

// errFound ends the reading at the wanted row.
var errFound = errors.New("the row was found")

// render shows one row.
func (f *filterSFTCmd) render(ctx context.Context, c *console, files []string) (err error) {
	model, err := f.text(ctx, c, f.Render)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	maker, err := examples.NewMaker(model, f.options())
	if err != nil {
		return untold(err)
	}
	row, err := f.row(ctx, files)
	if err != nil {
		return err
	}
	example, problems := maker.Look(row)
	if len(example.IDs) == 0 && len(problems) > 0 {
		return usagef("%s: %s", row.Name(), problems[len(problems)-1].Detail) // what stopped it comes last
	}
	on, off := signOn, signOff
	if file, ok := c.out.(*os.File); ok && f.NoColor == "" && term.IsTerminal(int(file.Fd())) {
		on, off = colourOn, colourOff
	}
	result := rendering{Row: example.Name, Text: model.Decode(example.IDs, true), IDs: example.IDs, Mask: make([]int, len(example.IDs)), Problems: []examples.Finding{}}
	result.Problems = append(result.Problems, problems...)
	for _, s := range example.Trained {
		for i := s.From; i < s.To; i++ {
			result.Mask[i] = 1
		}
	}
	return c.result(result, func(w io.Writer) error {
		if _, err := io.WriteString(w, marked(model, example, on, off)); err != nil {
			return err
		}
		for _, p := range problems {
			fmt.Fprintf(w, "%s: %s\n", p.Reason, printable(p.Detail))
		}
		_, err := fmt.Fprintf(w, "%s: %d tokens, %d of them trained: %s\n", example.Name, len(example.IDs), example.Targets(), on+"these"+off)
		return err
	})
}

// row finds the wanted row among those of all files.
func (f *filterSFTCmd) row(ctx context.Context, files []string) (found sft.Row, err error) {
	n := 0
	err = sft.Read(ctx, files, sft.DefaultColumns(), func(row sft.Row) error {
		if n++; n <= f.Row {
			return nil
		}
		found = row
		return errFound
	})
	if err == nil {
		return found, usagef("--row %d: %s has %d rows", f.Row, f.Source, n)
	}
	if errors.Is(err, errFound) {
		return found, nil
	}
	return found, inputFault(err)
}

// marked is an example's text with its trained parts between two signs.
func marked(model *chat.Model, e examples.Example, on, off string) string {
	var out strings.Builder
	at := 0
	for _, s := range e.Trained {
		out.WriteString(printable(model.Decode(e.IDs[at:s.From], true)))
		out.WriteString(on + printable(model.Decode(e.IDs[s.From:s.To], true)) + off)
		at = s.To
	}
	out.WriteString(printable(model.Decode(e.IDs[at:], true)))
	if text := out.String(); strings.HasSuffix(text, "\n") {
		return text
	}
	return out.String() + "\n"
}

// printable writes control characters, which could command a terminal, as
// escapes.
func printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&out, `\x%02x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
