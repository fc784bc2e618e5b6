package service

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// different are the pairs that we answer otherwise on purpose, beyond those whose
// recorded answer is marked as a defect; docs/sandbox.md says why.
var different = map[string]string{
	"batch_fn_true_vs_1":         "True is not 1",
	"batch_fn_tuple_vs_list":     "a tuple is a list",
	"batch_fn_cpp_wrong":         "a wrong value ends with 1 in every language",
	"run_python_file_null_value": "the program's file is called main.py",
	"run_python_cwd_argv":        "another directory, another Python",
	"run_lean_missing":           "a language that is not here is no failed program",
	"run_php_missing_runtime":    "a language that is not here is no failed program",
	"batch_bad_language":         "there are more languages to choose from",
	"run_unsupported_language":   "there are more languages to choose from",
	"batch_assert_main_guard":    "a program that ends before its assertions ends with 1",
	"run_scala_no_object":        "another compiler, another message",
	"run_pytest_pass_fail":       "another pytest",
	"run_typescript_success":     "types are stripped in a step of its own",
	"http_root":                  "another page",
}

// pair is a request to ScaleBox and its answer.
type pair struct {
	Name, Method, Path string
	JSON               json.RawMessage
	Raw                *string
	Status             int
	Response           any
	Defect             string `json:"scalebox_defect"`
}

func readPairs(t *testing.T) []pair {
	t.Helper()
	dir := os.Getenv("CR_TEST_DATA")
	if dir == "" {
		t.Skip("CR_TEST_DATA is not set: no recorded pairs to replay")
	}
	names, err := filepath.Glob(filepath.Join(dir, "scalebox_pairs", "*.json"))
	if err != nil || len(names) == 0 {
		t.Skipf("no recorded pairs in %s (%v)", dir, err)
	}
	pairs := make([]pair, len(names))
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &pairs[i]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return pairs
}

// TestRecordedPairs replays what clients of ScaleBox sent. Answers agree in
// every field but times, and texts that name ScaleBox's own files.
func TestRecordedPairs(t *testing.T) {
	pairs := readPairs(t)
	url := jailed(t)
	for _, p := range pairs {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			body := string(p.JSON)
			if p.Raw != nil {
				body = *p.Raw
			}
			if body == "null" {
				body = ""
			}
			got := send(t, p.Method, url+p.Path, body, "Content-Type", "application/json")
			switch why := different[p.Name]; {
			case got.code == http.StatusNotImplemented:
				if !strings.HasPrefix(p.Name, "ds_") && !strings.HasPrefix(p.Name, "jupyter_") {
					t.Errorf("not implemented")
				}
			case p.Defect != "" || why != "":
				if got.code >= http.StatusInternalServerError {
					t.Errorf("got %d %s", got.code, got.body)
				}
			case strings.Contains(string(got.body), "not available here"):
				t.Skip("this host has not what the pair needs")
			case got.code != p.Status:
				t.Errorf("got %d %s, want %d", got.code, got.body, p.Status)
			default:
				var answer any
				got.decode(t, &answer)
				if a, b := stable(answer), stable(p.Response); !reflect.DeepEqual(a, b) {
					t.Errorf("got\n%s\nwant\n%s", encode(a), encode(b))
				}
			}
		})
	}
}

// seconds are times in what programs print.
var seconds = regexp.MustCompile(`\d+\.\d+s`)

// stable drops what may differ: times, and texts with paths in them.
func stable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			switch key {
			case "execution_time", "message", "stderr", "full_code":
			default:
				kept[key] = stable(value)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, value := range v {
			kept[i] = stable(value)
		}
		return kept
	case string:
		return seconds.ReplaceAllString(v, "Ns")
	default:
		return v
	}
}

// TestRightWhereScaleBoxIsWrong holds our answers to the requests whose recorded
// answers are defects.
func TestRightWhereScaleBoxIsWrong(t *testing.T) {
	byName := map[string]pair{}
	for _, p := range readPairs(t) {
		byName[p.Name] = p
	}
	url := jailed(t)
	for _, tt := range []struct {
		name     string
		code     int
		status   string // of /run_code
		accepted bool
		contains string
	}{
		{"run_python_stdin_null_reads_eof", 200, success, false, `"stdout":"''\n"`},
		{"run_python_timeout", 200, failed, false, `"stdout":"before\n"`},
		{"run_python_non_utf8_output", 200, success, false, "\"stdout\":\"ok\ufffd\ufffd\\n\""},
		{"run_python_fetch_absolute_path", 200, success, false, `"files":{}`},
		{"run_python_file_path_dotdot", 422, "", false, "below the working directory"},
		{"run_python_file_bad_base64", 422, "", false, "not base64"},
		{"run_negative_timeout", 422, "", false, "greater than or equal to 0"},
		{"run_language_listed_without_runner_sql", 200, sandboxError, false, "sql"},
		{"batch_stdio_empty_cases", 200, "", false, "nothing was tested"},
		{"batch_stdio_more_inputs_than_outputs", 422, "", false, "2 inputs but 1 outputs"},
		{"batch_stdio_missing_fn_name", 200, "", true, ""},
		{"batch_stdio_no_type_defaults", 200, "", true, ""},
		{"batch_fn_no_type_uses_fn_name_missing_type", 200, "", true, ""},
		{"batch_missing_provided_data", 422, "", false, "Field required"},
		{"batch_nonstring_input", 422, "", false, "valid string"},
		{"batch_assert_missing_entry_point", 422, "", false, "entry_point"},
		{"batch_stdio_exit_nonzero_right_output", 200, "", false, `"return_code":3`},
		{"batch_stdio_unfenced_code", 200, "", true, ""},
		{"batch_special_judge_force_but_equal", 200, "", false, ""},
		{"batch_stdio_total_timeout", 200, "", false, allTimed},
		{"batch_fn_total_timeout", 200, "", false, allTimed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, ok := byName[tt.name]
			if !ok || p.Defect == "" {
				t.Fatal("no such pair, or it is no defect")
			}
			got := post(t, url+p.Path, string(p.JSON))
			var a struct {
				Status   string
				Accepted bool
			}
			if got.code == http.StatusOK {
				got.decode(t, &a)
			}
			if got.code != tt.code || a.Status != tt.status || a.Accepted != tt.accepted || !strings.Contains(string(got.body), tt.contains) {
				t.Errorf("got %d %s", got.code, got.body)
			}
		})
	}
}

// TestProbes replays the adversarial programs whose verdict is beyond debate, as
// far as the languages of this host go.
func TestProbes(t *testing.T) {
	dir := os.Getenv("CR_TEST_DATA")
	data, err := os.ReadFile(filepath.Join(dir, "sandbox_probes.jsonl"))
	if err != nil {
		t.Skipf("no probes in CR_TEST_DATA: %v", err)
	}
	url := jailed(t)
	for line := range strings.Lines(string(data)) {
		var p struct {
			Name, Group, Endpoint string
			Request               json.RawMessage
			Expect                struct {
				Accepted    *bool
				NotAccepted *bool `json:"not_accepted"`
				Tests       *int  `json:"ntests"`
				HTTP        []int
			}
			Debatable bool
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if p.Group == "time" {
			continue // programs that go by the clock depend on how busy the host is
		}
		if p.Debatable || p.Expect.Accepted == nil && p.Expect.NotAccepted == nil && p.Expect.HTTP == nil {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			got := post(t, url+p.Endpoint, strings.ReplaceAll(string(p.Request), "__PORT__", url[strings.LastIndex(url, ":")+1:]))
			if p.Expect.HTTP != nil {
				for _, code := range p.Expect.HTTP {
					if code == got.code {
						return
					}
				}
				t.Fatalf("got %d %s", got.code, got.body)
			}
			e := got.eval(t)
			if text := string(got.body); strings.Contains(text, "not available here") ||
				strings.Contains(text, "ModuleNotFoundError") {
				t.Skip("this host has not what the probe needs")
			}
			if want := p.Expect.Accepted; want != nil && e.Accepted != *want {
				t.Errorf("accepted %v: %s", e.Accepted, got.body)
			}
			if p.Expect.NotAccepted != nil && e.Accepted {
				t.Errorf("accepted: %s", got.body)
			}
			if want := p.Expect.Tests; want != nil && len(e.Tests) != *want {
				t.Errorf("%d results, want %d", len(e.Tests), *want)
			}
		})
	}
}
