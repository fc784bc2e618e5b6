package datasets

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestSamplesForms(t *testing.T) {
	entries := []string{
		`{"question_id":"b","code":"B0","extra":[1]}`,
		`{"task_id":"a","solution":"A0","passing":true}`,
		`{"question_id":"b","code_list":["B1",""]}`,
		`{"question_id":"b","task_id":"a","code":null,"completion":"B3"}`,
		`{"task_id":601,"code":"M"}`,
		`{"question_id":"c","code_list":[]}`,
	}
	for name, text := range map[string]string{
		"JSONL":         strings.Join(entries, "\n"),
		"blank lines":   "\n\n" + strings.Join(entries, "\r\n\r\n") + "\n",
		"a marked list": "\ufeff[" + strings.Join(entries, ",\n") + "]",
		"a list":        " [" + strings.Join(entries, ",\n") + "] \n",
	} {
		samples, err := LoadSamples(t.Context(), write(t, filepath.Join(t.TempDir(), "s"), text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := "[{b 0 code B0} {a 0 solution A0} {b 1 code_list B1} {b 2 code_list } {b 3 completion B3} {601 0 code M}]"
		if got := fmt.Sprint(samples.Entries); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		if groups := samples.ByID(); len(groups["b"]) != 4 || groups["b"][3].Text != "B3" || len(samples.SHA256) != 64 {
			t.Errorf("%s: groups %v", name, groups)
		}
	}
}

func TestSamplesErrors(t *testing.T) {
	good := `{"question_id":"a","code":"x"}`
	for name, tt := range map[string]struct{ text, want string }{
		"empty":          {"", "the file is empty"},
		"not JSON":       {good + "\n{", "line 2: not JSON: "},
		"no ID":          {good + "\n" + `{"code":"x"}`, "line 2: question_id (or task_id) is missing"},
		"an object ID":   {`{"question_id":{},"code":"x"}`, "line 1: question_id is neither"},
		"nothing to run": {`{"question_id":"a"}`, "line 1: a: none of code, solution, code_list, completion"},
		"a wrong type":   {`{"question_id":"a","code":5}`, "line 1: code: a number where a string belongs"},
		"null in a list": {`{"question_id":"a","code_list":[null]}`, "line 1: a: code_list: null"},
		"list, entry 2":  {"[" + good + `,{"question_id":"b"}]`, "entry 2: b: none of"},
		"list, no end":   {"[" + good, "after entry 1: the list does not end"},
		"list, more":     {"[" + good + "] 5", "after entry 1: more text"},
		"pretty JSON":    {"{\n" + good[1:], "line 1: not JSON: unexpected end of JSON input; every line must be one whole JSON object"},
		"code as a text": {`{"question_id":"a","code_list":"x"}`, "line 1: code_list: a string where a list belongs"},
		"encoding":       {"{\"question_id\":\"a\",\"code\":\"#\xe9\"}", "line 1: the text is not UTF-8"},
		"list, encoding": {"[{\"question_id\":\"a\",\"code\":\"#\xe9\"}]", "entry 1: the text is not UTF-8"},
		"list, a number": {"[5]", "entry 1: a JSON number where an object belongs"},
	} {
		path := write(t, filepath.Join(t.TempDir(), "s.jsonl"), tt.text)
		_, err := LoadSamples(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	if _, err := LoadSamples(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func FuzzSamples(f *testing.F) {
	f.Add(`[{"question_id":"a","code":"x"},{"task_id":1,"code_list":["y"]}]`)
	f.Add("{\"task_id\":\"a\",\"completion\":\"x\"}\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		samples, err := readSamples(t.Context(), strings.NewReader(text))
		if err != nil {
			return
		}
		next := map[string]int{}
		for _, s := range samples.Entries {
			if s.Index != next[s.ID] {
				t.Fatalf("%s has index %d after %d", s.ID, s.Index, next[s.ID])
			}
			next[s.ID]++
		}
	})
}
