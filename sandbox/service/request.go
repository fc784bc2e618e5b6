package service

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/coderl/cr/sandbox/judge"
)

// The limits that requests get without asking, as ScaleBox has them.
const (
	defaultTime      = 10 * time.Second
	defaultTotalTime = 1000 * time.Second
)

// maxFiles bounds the files of one run, in either direction.
const maxFiles = 1000

// smallestKB is the least memory limit read as KB: no program starts in less.
const smallestKB = 16 << 10

// runRequest is the body of /run_code.
type runRequest struct {
	language    string
	code        string
	stdin       string
	compileTime time.Duration
	runTime     time.Duration
	memory      int64 // bytes; 0 is the service's own limit
	files       map[string][]byte
	fetch       []string
	ext         *extension // nil: a request as ScaleBox knows it
}

// parseRun reads the body of /run_code.
func parseRun(body raw, languages []string) (runRequest, problems) {
	var faults problems
	f, ok := openModel(&faults, []any{"body"}, body)
	if !ok {
		return runRequest{}, faults
	}
	r := runRequest{
		compileTime: f.seconds("compile_timeout", defaultTime),
		runTime:     f.seconds("run_timeout", defaultTime),
		memory:      f.memory("memory_limit_MB") << 20,
		code:        f.requiredText("code"),
	}
	if v, ok := f.get("stdin"); ok && v.kind() != isNull {
		r.stdin = f.text("stdin")
	}
	if _, ok := f.required("language"); ok {
		r.language = f.choice("language", languages)
	}
	r.ext = parseExtension(f)
	r.files = parseFiles(f)
	for i, v := range f.list("fetch_files") {
		if name, ok := textOf(&faults, append(f.at("fetch_files"), i), v); ok && localPath(name) {
			r.fetch = append(r.fetch, name) // others cannot be there, which is no fault
		}
	}
	if len(r.files) > maxFiles || len(r.fetch) > maxFiles {
		faults.value(f.loc, f.whole, "more than %d files", maxFiles)
	}
	return r, faults
}

// parseFiles reads the files that a program finds in its working directory.
func parseFiles(f fields) map[string][]byte {
	v, ok := f.get("files")
	if !ok {
		return nil
	}
	dict, ok := openDict(f.faults, f.at("files"), v)
	if !ok {
		return nil
	}
	files := make(map[string][]byte, len(dict.values))
	for name, v := range dict.values {
		if v.kind() == isNull {
			continue
		}
		encoded, ok := textOf(f.faults, dict.at(name), v)
		if !ok {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case err != nil:
			f.faults.value(dict.at(name), v, "not base64: %v", err)
		case !localPath(name):
			f.faults.value(dict.at(name), v, "a file's name is a path below the working directory")
		default:
			files[path.Clean(name)] = data
		}
	}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, both := files[dir]; both {
				f.faults.value(dict.at(name), raw(encode(dir)), "another file has the name of its directory")
			}
		}
	}
	return files
}

// localPath says whether name is a path below the working directory that can be
// a file there.
func localPath(name string) bool {
	clean := path.Clean(name)
	return name != "" && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../") &&
		!path.IsAbs(name) && !strings.ContainsRune(name, 0) && !strings.HasSuffix(name, "/") && len(name) < 4096
}

// submitRequest is the body of /common_evaluate and /common_evaluate_batch.
type submitRequest struct {
	id         raw // an integer or a string, echoed
	completion string
	config     testConfig
}

// testConfig is how a completion is judged.
type testConfig struct {
	language    string // "" when the request names none
	compileTime time.Duration
	runTime     time.Duration
	memory      int64  // bytes; 0 is the service's own limit
	extract     string // custom_extract_logic
	data        raw    // provided_data; "" when absent
	extra       extra
}

// extra are the options of an evaluation.
type extra struct {
	runAll    bool
	fullCase  bool
	totalTime time.Duration
	mode      judge.Mode
	checker   *judge.Checker
}

// parseSubmit reads the body of an evaluation.
func parseSubmit(body raw, languages []string) (submitRequest, problems) {
	var faults problems
	f, ok := openModel(&faults, []any{"body"}, body)
	if !ok {
		return submitRequest{}, faults
	}
	r := submitRequest{id: "0", completion: f.requiredText("completion")}
	f.text("dataset")
	if v, ok := f.get("id"); ok {
		r.id = v
		if v.kind() != isString && v.kind() != isNumber {
			faults.add("int_type", append(f.at("id"), "int"), v, "Input should be a valid integer")
			faults.add("string_type", append(f.at("id"), "str"), v, "Input should be a valid string")
		}
	}
	if v, ok := f.required("config"); ok {
		r.config = parseConfig(&faults, f.at("config"), v, languages)
	}
	return r, faults
}

func parseConfig(faults *problems, loc []any, v raw, languages []string) (c testConfig) {
	f, ok := openModel(faults, loc, v)
	if !ok {
		return c
	}
	f.nullable = true
	c = testConfig{
		language:    f.choice("language", languages),
		compileTime: orDefault(f.seconds("compile_timeout", 0)),
		runTime:     orDefault(f.seconds("run_timeout", 0)),
		memory:      configMemory(f),
		extract:     f.text("custom_extract_logic"),
		extra:       extra{totalTime: defaultTotalTime, mode: judge.Lines},
	}
	c.data, _ = f.get("provided_data")
	if v, ok := f.get("extra"); ok {
		c.extra = parseExtra(faults, f.at("extra"), v)
	}
	return c
}

// orDefault is the usual time limit for one of zero, which these requests use
// for "none given".
func orDefault(d time.Duration) time.Duration {
	if d == 0 {
		return defaultTime
	}
	return d
}

// configMemory is the smaller of mem_limit and memory_limit_MB. mem_limit is in
// KB as MAX_MEM is, but a number too small for that was meant as MB.
func configMemory(f fields) int64 {
	limit := f.memory("memory_limit_MB") << 20
	n := f.memory("mem_limit")
	if n >= smallestKB {
		n <<= 10
	} else {
		n <<= 20
	}
	if limit == 0 || n > 0 && n < limit {
		limit = n
	}
	return limit
}

func parseExtra(faults *problems, loc []any, v raw) extra {
	e := extra{totalTime: defaultTotalTime, mode: judge.Lines}
	f, ok := openDict(faults, loc, v)
	if !ok {
		return e
	}
	f.nullable = true
	e.runAll = f.flag("run_all_cases")
	e.fullCase = f.flag("return_full_case")
	e.totalTime = f.seconds("total_timeout", defaultTotalTime)
	if mode := f.text("compare"); mode != "" {
		e.mode = judge.Mode(mode)
	}
	e.checker = parseChecker(f)
	return e
}

// parseChecker reads a special judge in ScaleBox's form, or a checker as problem
// files have it, which grants a tolerance.
func parseChecker(f fields) *judge.Checker {
	if code := f.text("special_judge_program"); code != "" {
		return &judge.Checker{
			Mode: "program", Form: judge.ByName, Code: code,
			Language: f.text("special_judge_language"),
		}
	}
	v, ok := f.get("checker")
	if !ok {
		return nil
	}
	c, ok := openDict(f.faults, f.at("checker"), v)
	if !ok {
		return nil
	}
	checker := &judge.Checker{
		Mode: c.requiredText("mode"), Reals: c.flag("reals"),
		Language: c.text("language"), Code: c.text("code"), Form: judge.Form(c.text("form")),
	}
	if v, ok := c.get("eps"); ok {
		checker.Eps, _ = numberOf(c.faults, c.at("eps"), v)
	}
	return checker
}

// rules says what is wrong with the way to compare.
func (e extra) rules() error {
	task := judge.Task{Mode: e.mode, Checker: e.checker}
	if err := task.CheckRules(); err != nil {
		return fmt.Errorf("config.extra: %w", err)
	}
	return nil
}
