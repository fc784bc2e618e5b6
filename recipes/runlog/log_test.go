package runlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func sample(step int) []Metric {
	return []Metric{
		Number("train/loss", 0.5), Number("train/lr(1e-3)", 1e-5), Clock("train/time(s)", float64(step)),
		Count("train/global_tokens", 4096),
	}
}

// The right-hand sides are what Python 3 prints for repr of these numbers.
func TestConsoleLine(t *testing.T) {
	got := Line(7, []Metric{
		Number("train/loss", 1), Number("a", 1e-6), Number("b", 0.0001), Number("c", 123456789.25),
		Number("d", math.NaN()), Number("e", math.Inf(-1)), Number("f", 1e16), Number("g", 9007199254740993),
		Count("n", 1048576), Number("z", 0), Number("y", -0.1),
	})
	want := "step:7 - train/loss:1.0 - a:1e-06 - b:0.0001 - c:123456789.25 - d:nan - e:-inf - f:1e+16 - g:9007199254740992.0 - n:1048576 - z:0.0 - y:-0.1"
	if got != want {
		t.Errorf("line\n%s, want\n%s", got, want)
	}
}

func writeSteps(t *testing.T, dir string, after, until int) string {
	t.Helper()
	var console bytes.Buffer
	l, err := Open(dir, after, &console)
	if err != nil {
		t.Fatal(err)
	}
	for step := after + 1; step <= until; step++ {
		if err := l.Step(step, sample(step)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return console.String()
}

// Going on after step 2 of a run that had logged four steps and a half leaves
// what an undisturbed run leaves.
func TestResumedLogIsTheSame(t *testing.T) {
	whole, resumed := t.TempDir(), t.TempDir()
	writeSteps(t, whole, 0, 5)
	writeSteps(t, resumed, 0, 4)
	torn, err := os.OpenFile(filepath.Join(resumed, MetricsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := torn.WriteString(`{"step": 5, "train`); err != nil {
		t.Fatal(err)
	}
	if err := torn.Close(); err != nil {
		t.Fatal(err)
	}
	console := writeSteps(t, resumed, 2, 5)
	if !strings.HasPrefix(console, "step:3 - ") || strings.Count(console, "\n") != 3 {
		t.Errorf("console after resuming:\n%s", console)
	}
	for _, name := range []string{MetricsFile, TimingFile} {
		want, got := read(t, filepath.Join(whole, name)), read(t, filepath.Join(resumed, name))
		if !bytes.Equal(want, got) {
			t.Errorf("%s is\n%s, want\n%s", name, got, want)
		}
	}
	if text := string(read(t, filepath.Join(whole, MetricsFile))); strings.Contains(text, "time") || strings.Count(text, "\n") != 5 {
		t.Errorf("metrics:\n%s", text)
	}
}

// Lines that were taken away are missed, wherever they stood.
func TestGap(t *testing.T) {
	for keep, want := range map[string]string{
		"01234": "", "0123": "lacks 1 of the 4 steps", "": "lacks 4 of the 4 steps", "12456": "lacks 1 of the 4 steps", "123456": "",
	} {
		dir := t.TempDir()
		var lines strings.Builder
		for _, step := range keep {
			fmt.Fprintf(&lines, "{\"step\": %c}\n", step)
		}
		if err := os.WriteFile(filepath.Join(dir, MetricsFile), []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Open(dir, 4, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if gap := l.Gap(); want == "" && gap != "" || !strings.Contains(gap, want) {
			t.Errorf("with steps %q it says %q, want %q", keep, gap, want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestForeignFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, MetricsFile)
	const text = "{\"step\": 1}\nnotes of mine\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, 5, os.Stderr); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v", err)
	}
	if got := read(t, path); string(got) != text {
		t.Errorf("the file is now %q", got)
	}
}

// TensorBoard reads what was written, and of a resumed run each step once.
func TestTensorBoardReadsEvents(t *testing.T) {
	python := os.Getenv("CR_TEST_PYTHON")
	if python == "" {
		t.Skip("CR_TEST_PYTHON names no Python with tensorboard")
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import tensorboard").Run(); err != nil {
		t.Skip("no tensorboard in CR_TEST_PYTHON")
	}
	dir := t.TempDir()
	writeSteps(t, dir, 0, 4)
	writeSteps(t, dir, 2, 3)
	cmd := exec.CommandContext(t.Context(), python, "testdata/read_events.py", filepath.Join(dir, TensorBoardDir))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][][2]float64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string][][2]float64{}
	for step := 1; step <= 3; step++ {
		for _, m := range sample(step) {
			want[m.Key] = append(want[m.Key], [2]float64{float64(step), float64(float32(m.Value))})
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("TensorBoard reads\n%v, want\n%v", got, want)
	}
}
