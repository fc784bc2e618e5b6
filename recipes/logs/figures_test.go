package logs_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/logs"
)

// comparison is a plain run and a speculative one of twenty steps: rewards equal,
// throughput and times better by the factors that the figure must say.
func comparison(t *testing.T) *logs.Logs {
	t.Helper()
	var plain, fast strings.Builder
	for step := 1; step <= 20; step++ {
		score := 0.2 + 0.01*float64(step)
		val := ""
		if step%5 == 0 {
			val = fmt.Sprintf(" - val-core/apps/reward/mean@1:%g - val-core/taco/reward/mean@1:%g", score, score+0.1)
		}
		fmt.Fprintf(&plain, "step:%d - critic/score/mean:%g%s - perf/throughput:%d - perf/time_per_step:%d\n", step, score, val, 100+step, 1000+step)
		if step <= 16 {
			fmt.Fprintf(&fast, "step:%d - critic/score/mean:%g%s - perf/throughput:%d - perf/time_per_step:%d - spec_decode/draft_acceptance_rate:0.5 - spec_decode/mean_acceptance_length:2.0 - spec_decode/acceptance_rate_pos_0:0.6 - spec_decode/acceptance_rate_pos_1:0.4\n",
				step, score, val, 2*(100+step), (1000+step)/2)
		}
	}
	dir := folder(t, map[string]string{"p.log": plain.String(), "f.log": fast.String()})
	return read(t, "plain="+dir+"/p.log", "eagle3="+dir+"/f.log")
}

// words are the texts of an SVG file.
func words(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	found := map[string]bool{}
	for dec := xml.NewDecoder(file); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			found[strings.TrimSpace(string(text))] = true
		}
	}
}

func TestFigures(t *testing.T) {
	figures, err := comparison(t).Figures(logs.FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := logs.SaveFigures(t.TempDir()+"/new/folder", figures)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{
		"training_progress":    {"Training progress", "Reward", "mean score", "Throughput", "tokens/s per device", "Time per step", "seconds", "plain", "eagle3", "step"},
		"evaluation_progress":  {"Evaluation progress", "Mean of 2 sources", "apps", "taco", "reward, mean@1"},
		"accuracy_speculation": {"Accuracy with and without speculative decoding", "Training reward", "plain", "eagle3 (speculative)", "Mean of 2 sources"},
		"throughput_speedup":   {"Throughput, speed-up over plain", "Speed-up: throughput", "× baseline", "Throughput: eagle3 ×2.00 over 16 common steps.", "Time per step: eagle3 ×2.00 over 16 common steps."},
		"acceptance":           {"Acceptance of drafts over the steps", "Acceptance rate", "Acceptance length", "tokens per verification", "By position: eagle3", "draft token 1", "draft token 2"},
	}
	if len(saved) != len(labels) {
		t.Fatalf("%d figures", len(saved))
	}
	for _, s := range saved {
		if s.Skipped != "" {
			t.Errorf("%s is skipped: %s", s.Name, s.Skipped)
			continue
		}
		found := words(t, s.SVG)
		for _, want := range labels[s.Name] {
			if !found[want] {
				t.Errorf("%s lacks %q: %v", s.Name, want, found)
			}
		}
		text, err := os.ReadFile(s.PNG)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(text))
		if err != nil || img.Bounds().Dx() < 900 || img.Bounds().Dy() < 400 {
			t.Errorf("%s: %v", s.PNG, err)
		}
	}
}

// TestFiguresSkipped: what has no data is told and leaves no file.
func TestFiguresSkipped(t *testing.T) {
	found := read(t, folder(t, map[string]string{"a.log": "step:1 - critic/score/mean:0.5\n"}))
	figures, err := found.Figures(logs.FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	saved, err := logs.SaveFigures(dir, figures)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range saved {
		if drawn := s.Name == "training_progress"; drawn != (s.Skipped == "") {
			t.Errorf("%s: %q", s.Name, s.Skipped)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestFiguresBaseline(t *testing.T) {
	found := comparison(t)
	if _, err := found.Figures(logs.FigureOptions{Baseline: "nobody"}); err == nil || !strings.Contains(err.Error(), `"nobody"; there are plain, eagle3`) {
		t.Errorf("error %v", err)
	}
	figures, err := found.Figures(logs.FigureOptions{Baseline: "eagle3"})
	if err != nil {
		t.Fatal(err)
	}
	if f := figures[3].Chart; f == nil || !strings.Contains(f.Note, "Throughput: plain ×0.50 over 16 common steps.") {
		t.Errorf("%+v", f)
	}
}

// TestRestartGap: a curve is broken where a restart left out steps, and nowhere
// else, unless asked to connect.
func TestRestartGap(t *testing.T) {
	gaps := func(log string, connect bool) int {
		figures, err := read(t, folder(t, map[string]string{"a.log": log})).Figures(logs.FigureOptions{Connect: connect})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range figures[0].Chart.Panels[0].Series[0].Points {
			if p.Y != p.Y {
				n++
			}
		}
		return n
	}
	const lost = "step:1 - train/loss:1\nstep:2 - train/loss:1\nstep:9 - train/loss:2\nstep:10 - train/loss:2\nstep:8 - train/loss:3\nstep:9 - train/loss:3\n"
	const resumed = "step:1 - train/loss:1\nstep:2 - train/loss:1\nstep:3 - train/loss:1\nstep:3 - train/loss:2\nstep:4 - train/loss:2\n"
	if n := gaps(lost, false); n != 1 {
		t.Errorf("%d gaps where steps are lost", n)
	}
	if n := gaps(lost, true); n != 0 {
		t.Errorf("%d gaps when connected", n)
	}
	if n := gaps(resumed, false); n != 0 {
		t.Errorf("%d gaps where nothing is lost", n)
	}
}

func TestViewAndCurve(t *testing.T) {
	found := comparison(t)
	view := logs.View(found.Summaries(), 90)
	for _, want := range []string{"plain: steps 1 to 20\n", "eagle3: steps 1 to 16, speculative\n", "Reward", "0.21 → 0.4", "▁", "█", "Acceptance rate"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not in\n%s", want, view)
		}
	}
	curve := logs.Curve(found.Runs, 60, 12, false)
	if !strings.HasPrefix(curve, "Reward (mean score)\n") || !strings.Contains(curve, "step 20") || !strings.Contains(curve, "plain 0.4") {
		t.Errorf("the curve is\n%s", curve)
	}
	if text := found.Runs[0].StepText(found.Runs[0].Rows[0]); text != "plain step 1, reward 0.21, time per step 1001, throughput 101" {
		t.Errorf("the step is %q", text)
	}
}

// inks is the share of pixels of a column range of a PNG that are not white.
func inks(t *testing.T, path string, left, right int) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	width, n := img.Bounds().Dx(), 0
	for y := range img.Bounds().Dy() {
		for x := range width {
			if x >= left && x < width-right {
				continue
			}
			if r, g, b, _ := img.At(x, y).RGBA(); r+g+b != 3*0xFFFF {
				n++
			}
		}
	}
	return n
}

// TestLongNames: five runs with long names, some of which no SVG may hold as they
// are, draw the five figures with nothing outside the margins, and the sizes of
// the panels are those with short names.
func TestLongNames(t *testing.T) {
	dir := folder(t, nil)
	long := strings.Repeat("qwen3-1.7b-eagle3-drafter-", 12)
	var args []string
	for i := range 5 {
		log := ""
		for step := 1; step <= 80; step++ {
			log += fmt.Sprintf("step:%d - critic/score/mean:%d - val-core/%s/acc/mean@1:0.5 - perf/throughput:%d", step, i, long, 100+step)
			if i > 0 {
				log += " - spec_decode/draft_acceptance_rate:0.5 - spec_decode/acceptance_rate_pos_0:0.6"
			}
			log += "\n"
		}
		file := fmt.Sprintf("%s/%d.log", dir, i)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(log), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, fmt.Sprintf("%s<&\"%d>=%s", long, i, file))
	}
	figures, err := read(t, args...).Figures(logs.FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := logs.SaveFigures(t.TempDir(), figures)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range saved {
		if s.Skipped != "" {
			t.Errorf("%s is skipped: %s", s.Name, s.Skipped)
			continue
		}
		const margin = 16 // of 28 pixels; marks of a first step may stand in it
		if n := inks(t, s.PNG, margin, margin); n > 0 {
			t.Errorf("%s: %d pixels in the margins", s.Name, n)
		}
		words(t, s.SVG)
	}
}
