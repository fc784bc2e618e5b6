package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/term"

	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/recipes/logs/chart"
)

// writeSteps writes the table of a training run's steps and its curve.
func writeSteps(dir string, s eval.Steps) error {
	figure := stepsFigure(s)
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"steps.csv", func(w io.Writer) error { return eval.WriteStepsCSV(w, s) }},
		{"steps.md", func(w io.Writer) error { return eval.WriteStepsMarkdown(w, s) }},
		{"steps.svg", figure.WriteSVG},
		{"steps.png", figure.WritePNG},
		{"steps.json", func(w io.Writer) error { return eval.WriteStepsJSON(w, s) }},
	} {
		if err := atomicfile.Write(filepath.Join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

// stepsFigure is pass@1, and pass@k of the largest k, over the steps.
func stepsFigure(s eval.Steps) *chart.Figure {
	f := chart.StepCurve("Score by training step: "+s.Data.Name, "problems solved, %", stepsCurves(s)...)
	f.Note = fmt.Sprintf("Bars and bands: %g %% intervals over %s.", 100*s.Confidence, amount.Of(s.Steps[0].Problems, "problem"))
	return f
}

func stepsCurves(s eval.Steps) []chart.Series {
	var curves []chart.Series
	for _, k := range s.HeadlineKs() {
		curve := chart.Series{Name: fmt.Sprintf("pass@%d", k), Interval: true}
		for _, step := range s.Steps {
			e := step.PassAtK[strconv.Itoa(k)]
			curve.Points = append(curve.Points, chart.Point{X: float64(step.Step), Y: 100 * e.Value, Low: 100 * e.Low, High: 100 * e.High})
		}
		curves = append(curves, curve)
	}
	return curves
}

// stepsText renders the table, the curve, and where their files are.
func stepsText(c *console, dir string, s eval.Steps) func(io.Writer) error {
	return func(w io.Writer) error {
		if err := eval.WriteSteps(w, s); err != nil {
			return err
		}
		width, color := 80, false
		if f, ok := c.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			color = true
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
				width = min(columns-1, 100)
			}
		}
		_, err := fmt.Fprintf(w, "\n%s%s: steps.json, steps.csv, steps.md, steps.svg, steps.png\n",
			chart.Terminal("problems solved, %", stepsCurves(s), width, 14, color), dir)
		return err
	}
}
