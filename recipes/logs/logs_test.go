package logs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/logs"
)

// read reads sources that must not fail.
func read(t *testing.T, args ...string) *logs.Logs {
	t.Helper()
	var sources []logs.Source
	for _, a := range args {
		sources = append(sources, logs.ParseSource(a))
	}
	found, err := logs.Read(context.Background(), sources)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func table(t *testing.T, found *logs.Logs, how logs.Table) string {
	t.Helper()
	var out bytes.Buffer
	if err := found.WriteCSV(&out, how); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// folder writes files into a new folder called run.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// problemsOf are the problems without the folder.
func problemsOf(found *logs.Logs) []string {
	var all []string
	for _, p := range found.Problems {
		p.File = filepath.Base(p.File)
		all = append(all, p.String())
	}
	return all
}

// TestVersions holds logs of every version's form, with the defects that made the
// published script fail, to tables written by hand.
func TestVersions(t *testing.T) {
	problems := map[string][]string{
		"old": nil,
		"c651": {
			`train.log:9: step 4: the line is torn at "training/glo(TaskRunner pid=555) {'actor_rollout_ref': {'mod…"; the metrics before it are kept`,
		},
		"new":  {`run.out:4: step 3: the file ends within this line; its last value is left out`},
		"cr":   {`metrics.jsonl:5: the file ends within this line, which is left out`},
		"spec": nil,
	}
	for version, wantProblems := range problems {
		t.Run(version, func(t *testing.T) {
			found := read(t, "testdata/"+version)
			want, err := os.ReadFile(filepath.Join("testdata", version, "want.csv"))
			if err != nil {
				t.Fatal(err)
			}
			same(t, table(t, found, logs.Table{}), string(want))
			same(t, strings.Join(problemsOf(found), "\n"), strings.Join(wantProblems, "\n"))
		})
	}
}

func TestPublishedColumns(t *testing.T) {
	var out bytes.Buffer
	if err := read(t, "testdata/c651").WritePublishedCSV(&out); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/c651/want_published.csv")
	if err != nil {
		t.Fatal(err)
	}
	same(t, out.String(), string(want))
}

// TestNumbers is the case of notation that number patterns miss.
func TestNumbers(t *testing.T) {
	var lines strings.Builder
	for _, v := range []string{"3.2e-05", "-1.5E+2", "nan", "-inf", ".5", "1_000", "15K"} {
		lines.WriteString("step:" + string(rune('1'+strings.Count(lines.String(), "\n"))) + " - loss:" + v + "\n")
	}
	found := read(t, folder(t, map[string]string{"a.log": lines.String()}))
	same(t, table(t, found, logs.Table{}), "step,loss\n1,3.2e-05\n2,-150\n3,nan\n4,-inf\n5,0.5\n6,\n7,\n")
	same(t, strings.Join(problemsOf(found), "\n"), `a.log:6: step 6: loss: "1_000" is not a number; the cell stays empty (and 1 more like it)`)
}

// TestResumed is the case of steps that come twice, with new columns: in one file
// and in two, whose names are in the wrong order.
func TestResumed(t *testing.T) {
	first := "step:1 - loss:0.1\nstep:2 - loss:0.2\nstep:3 - loss:0.3\n"
	second := "step:2 - loss:2.5 - kl:0.5\nstep:3 - loss:3.5 - kl:0.6\nstep:4 - loss:4.5 - kl:0.7 - val/acc:0.9\n"
	const want = "step,loss,kl,val/acc\n1,0.1,,\n2,2.5,0.5,\n3,3.5,0.6,\n4,4.5,0.7,0.9\n"
	for name, files := range map[string]map[string]string{
		"one file":      {"a.log": first + second},
		"two files":     {"run.log": first, "resume.log": second},
		"dated":         {"job-20250102.log": second, "job-20250101.log": first},
		"numbered":      {"job-10.log": second, "job-9.log": first},
		"metrics files": {"metrics.jsonl": `{"step":1,"loss":0.1}` + "\n" + `{"step":2,"loss":0.2}` + "\n" + `{"step":2,"loss":2.5,"kl":0.5}` + "\n" + `{"step":3,"loss":3.5,"kl":0.6}` + "\n" + `{"step":4,"loss":4.5,"kl":0.7,"val/acc":0.9}` + "\n"},
		"file logger":   {"exp.jsonl": `{"step": 1, "data": {"loss": 0.1}}` + "\n" + `{"step": 2, "data": {"loss": 2.5, "kl": 0.5}}` + "\n" + `{"step": 3, "data": {"loss": 3.5, "kl": 0.6}}` + "\n" + `{"step": 4, "data": {"loss": 4.5, "kl": 0.7, "val/acc": 0.9}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			found := read(t, folder(t, files))
			same(t, table(t, found, logs.Table{}), want)
			if len(found.Problems) > 0 {
				t.Errorf("problems: %v", found.Problems)
			}
		})
	}
	all := table(t, read(t, folder(t, map[string]string{"a.log": first + second})), logs.Table{Runs: true, All: true})
	objects := table(t, read(t, folder(t, map[string]string{"metrics.jsonl": "{\"step\":2,\"a\":1}\n{\"step\":2,\"a\":2}\n", "timing.jsonl": "{\"step\":2,\"b\":3}\n"})), logs.Table{All: true})
	same(t, objects, "step,attempt,a,b\n2,1,1,\n2,2,2,3\n")
	same(t, all, "run,step,attempt,loss,kl,val/acc\nrun,1,1,0.1,,\nrun,2,1,0.2,,\nrun,2,2,2.5,0.5,\nrun,3,1,0.3,,\nrun,3,2,3.5,0.6,\nrun,4,2,4.5,0.7,0.9\n")
}

// TestSameStepTwice: two begins without a hint which is later are told.
func TestSameStepTwice(t *testing.T) {
	found := read(t, folder(t, map[string]string{"nospec.log": "step:1 - loss:1\n", "spec.log": "step:1 - loss:2\n"}))
	if len(found.Problems) != 1 || !strings.Contains(found.Problems[0].String(), "spec.log:1: step 1 comes in ") {
		t.Errorf("problems: %v", found.Problems)
	}
}

// TestDamagedLines are physical lines that hold no metric line, several, or a part.
func TestDamagedLines(t *testing.T) {
	for name, c := range map[string]struct{ log, want, problem string }{
		"glued by a restart": {
			"step:1 - a:0.5 - b:0.1(TaskRunner pid=9) step:2 - a:0.6 - b:0.25\n",
			"step,a,b\n1,0.5,\n2,0.6,0.25\n", `x.log:1: step 1: the line is torn at "b"; the metrics before it are kept`,
		},
		"glued without a prefix": {
			"step:1 - a:0.5 - b:0.1step:2 - a:0.6 - b:0.25\n",
			"step,a,b\n1,0.5,\n2,0.6,0.25\n", `x.log:1: step 1: the line is torn at "b"; the metrics before it are kept`,
		},
		"glued inside a name": {
			"step:3 - a:0.5 - timing_s/gestep:4 - a:0.6 - b:0.25\nstep:5 - a:1\n",
			"step,a\n5,1\n", "x.log:1: step 3: a stands twice: two lines ran into one, which is left out",
		},
		"another process in between": {
			"step:1 - a:0.5 - (WorkerDict pid=3) INFO 12:30:45 loaded: 7\n - b:0.1\n",
			"step,a\n1,0.5\n", `x.log:1: step 1: the line is torn at "(WorkerDict pid=3) INFO 12:30:45 loaded: 7"; the metrics before it are kept`,
		},
		"timestamps and levels around": {
			"2025-11-30 04:00:00,123 INFO console: step:1 - a:0.5 - training/global_step:1 - b:0.25 2025-11-30 04:00:00\r\n",
			"step,a,training/global_step,b\n1,0.5,1,0.25\n", "",
		},
		"printed twice": {
			"step:1 - a:0.5\n(TaskRunner pid=1) step:1 - a:0.5\nstep:2 - a:nan\nstep:2 - a:nan\n",
			"step,a\n1,0.5\n2,nan\n", "",
		},
		"in the answer of a model": {
			"The plan: step:1 - read: the input, step:2 - sort\nstep:5\nglobal_step:3 - x:1\nstep:1 - a:0.5\n",
			"step,a\n1,0.5\n", "",
		},
		"a line that loses all": {
			"step:1 - a:0.5(TaskRunner pid=9) step:2 - a:0.6\nstep:3 - a:1step:4 - a:2\n",
			"step,a\n2,0.6\n4,2\n", `x.log:1: step 1: the line is torn at "a"; the metrics before it are kept (and 1 more like it)`,
		},
		"quoted by its printer": {
			"(TaskRunner pid=1) ('step:1 - a:0.5')\n{\"message\": \"step:2 - a:0.6 - b:1\", \"level\": 20}\n",
			"step,a,b\n1,0.5,\n2,0.6,1\n", "",
		},
		"none and bools": {
			"step:1 - a:None - b:True - c:np.False_\n",
			"step,a,b,c\n1,,1,0\n", "",
		},
		"no newline at the end, whole": {
			"step:1 - a:0.5 - b:1\nstep:2 - a:0.6 - b:2", "step,a,b\n1,0.5,1\n2,0.6,2\n", "",
		},
		"cut in a name": {
			"step:1 - a:0.5 - b:1\nstep:2 - a:0.6 - b", "step,a,b\n1,0.5,1\n2,0.6,\n",
			"x.log:2: step 2: the file ends within this line; its last value is left out",
		},
		"cut in a value": {
			"step:1 - a:0.5 - b:1.5\nstep:2 - a:0.6 - b:1.", "step,a,b\n1,0.5,1.5\n2,0.6,\n",
			"x.log:2: step 2: the file ends within this line; its last value is left out",
		},
		"cut in an earlier value": {
			"step:1 - a:0.5 - b:1.5\nstep:2 - a:0.6", "step,a,b\n1,0.5,1.5\n",
			"x.log:2: step 2: the file ends within this line; its last value is left out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := read(t, folder(t, map[string]string{"x.log": c.log}))
			same(t, table(t, found, logs.Table{}), c.want)
			same(t, strings.Join(problemsOf(found), "\n"), c.problem)
		})
	}
}

// TestMixed reads two runs in folders of their own and one that is labelled, of
// three writers, packed and not.
func TestMixed(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("step:1 - a:1\nstep:2 - a:2\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{
		"verl/x.log.gz":              packed.String(),
		"cr/metrics.jsonl":           `{"step": 1, "a": NaN, "b": -Infinity}` + "\n",
		"cr/global_step_1/note.txt":  "step:9 - a:9\n",
		"cr/rollouts/1.jsonl":        `{"input": "x", "step": 3, "score": 1}` + "\n",
		"verl/.hidden.log":           "step:9 - a:9\n",
		"labelled/2024/x.log":        "step:1 - a:5\n",
		"labelled/2025/metrics.json": "{}",
		"labelled/2025/y.log":        "step:2 - a:6\n",
	})
	found := read(t, filepath.Join(dir, "verl"), filepath.Join(dir, "cr"), "one="+filepath.Join(dir, "labelled"))
	same(t, table(t, found, logs.Table{Runs: true}), "run,step,a,b\nverl,1,1,\nverl,2,2,\ncr,1,nan,-inf\none,1,5,\none,2,6,\n")
	found = read(t, dir)
	var names []string
	for _, r := range found.Runs {
		names = append(names, r.Name)
	}
	same(t, strings.Join(names, " "), "run/cr run/labelled/2024 run/labelled/2025 run/verl")
}

// TestOrigins: one folder with runs from several checkpoints is several runs, as in
// the published table.
func TestOrigins(t *testing.T) {
	settings := func(step string) string {
		return "(TaskRunner pid=1)  'path': '/data/checkpoint/sft/global_step_" + step + "/huggingface',\n"
	}
	found := read(t, folder(t, map[string]string{
		"a.log": "step:1 - a:1\n",
		"b.log": settings("20") + "step:1 - a:2\n" + settings("40") + "step:1 - a:3\nstep:2 - a:4\n",
	}))
	same(t, table(t, found, logs.Table{Runs: true}), "run,step,a\nrun:baseline,1,1\nrun:sft/global_step_20,1,2\nrun:sft/global_step_40,1,3\nrun:sft/global_step_40,2,4\n")
}

// TestLooseWindows: vLLM's lines in a log of their own are told.
func TestLooseWindows(t *testing.T) {
	const window = "SpecDecoding metrics: Draft acceptance rate: 50.0%, Accepted: 5 tokens, Drafted: 10 tokens\n"
	found := read(t, folder(t, map[string]string{"x.log": "step:1 - a:1\n", "vllm.log": "begin\n" + window + window}))
	same(t, strings.Join(problemsOf(found), "\n"), "vllm.log:2: a window of speculative decoding in a log without steps belongs to none (and 1 more like it)")
}

// TestSilent: a source without a metric line is named.
func TestSilent(t *testing.T) {
	found := read(t, folder(t, map[string]string{"x.log": "nothing here\nstep:7\n"}))
	if len(found.Runs) != 0 || len(found.Silent) != 1 {
		t.Errorf("runs %v, silent %v", found.Runs, found.Silent)
	}
}

// TestCutPacked: what was unpacked before a packed file ends is kept.
func TestCutPacked(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("step:1 - a:1\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Flush(); err != nil {
		t.Fatal(err)
	}
	found := read(t, folder(t, map[string]string{"x.log.gz": packed.String()}))
	same(t, table(t, found, logs.Table{}), "step,a\n1,1\n")
	same(t, strings.Join(problemsOf(found), "\n"), "x.log.gz:2: the packed file is cut off here")
}

// TestLongLine: a line of gigabytes is skipped in bounded memory, and told.
func TestLongLine(t *testing.T) {
	dump := strings.Repeat("x", 5<<20)
	found := read(t, folder(t, map[string]string{"x.log": "step:1 - a:1\n" + dump + "\nstep:2 - a:2\n" + strings.Repeat("5%|  \r", 1<<20) + "step:3 - a:3\n"}))
	same(t, table(t, found, logs.Table{}), "step,a\n1,1\n2,2\n3,3\n")
	same(t, strings.Join(problemsOf(found), "\n"), "x.log:2: a line of more than 4 MB is skipped")
}

// TestGrowing reads a run while it is written: lines in parts, a new file, and a
// file that is written anew.
func TestGrowing(t *testing.T) {
	dir := folder(t, map[string]string{"x.log": "step:1 - a:1\nstep:2 - a:"})
	c, err := logs.NewCollection([]logs.Source{{Path: dir}})
	if err != nil {
		t.Fatal(err)
	}
	poll := func(wantChanged bool, want string) {
		t.Helper()
		changed, err := c.Poll(context.Background())
		if err != nil || changed != wantChanged {
			t.Fatalf("changed %v, error %v", changed, err)
		}
		same(t, table(t, c.Logs(), logs.Table{}), want)
	}
	add := func(name, text string, flags int) {
		t.Helper()
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|flags, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	poll(true, "step,a\n1,1\n")
	poll(false, "step,a\n1,1\n")
	add("x.log", "2\n", os.O_APPEND)
	poll(true, "step,a\n1,1\n2,2\n")
	add("y.log", "step:3 - a:3\n", 0)
	poll(true, "step,a\n1,1\n2,2\n3,3\n")
	add("x.log", "step:1 - a:9\n", os.O_TRUNC)
	poll(true, "step,a\n1,9\n3,3\n")
	add("y.log", "step:4 - a:4", os.O_APPEND)
	poll(true, "step,a\n1,9\n3,3\n")
	same(t, table(t, c.Finish(), logs.Table{}), "step,a\n1,9\n3,3\n4,4\n")
}

// TestCSVQuotes: names with commas and quotes stay one cell.
func TestCSVQuotes(t *testing.T) {
	found := read(t, folder(t, map[string]string{"metrics.jsonl": `{"step":1,"val/a,\"b\"/c":2}` + "\n"}))
	rows, err := csv.NewReader(strings.NewReader(table(t, found, logs.Table{}))).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][1] != `val/a,"b"/c` || rows[1][1] != "2" {
		t.Errorf("%q, %v", rows, err)
	}
}
