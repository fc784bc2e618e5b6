package service

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/coderl/cr/sandbox"
)

// extensionVersion is told by /healthz, so that clients know that requests may
// have the member cr.
const extensionVersion = 1

// Bounds of what a request may ask for by the member cr.
const (
	mostOutput    = 256 << 20
	mostProcesses = 4096
)

// extension is the member cr of a /run_code request: what a job of this sandbox
// can say beyond ScaleBox's API. A request without it is answered as ScaleBox
// answers; one with it gets a member cr in its answer. docs/sandbox.md has both.
type extension struct {
	prelude  bool
	longInts bool
	stdin    []byte
	args     []string
	call     *sandbox.Call
	check    *sandbox.Check
	limits   sandbox.Limits // of wall time, output, processes; address space
}

// parseExtension reads the member cr, nil when there is none.
func parseExtension(f fields) *extension {
	v, ok := f.get("cr")
	if !ok || v.kind() == isNull {
		return nil
	}
	e, ok := openDict(f.faults, f.at("cr"), v)
	if !ok {
		return nil
	}
	e.nullable = true
	ext := &extension{
		prelude:  e.flag("prelude"),
		longInts: e.flag("long_ints"),
		args:     e.texts("args"),
		limits: sandbox.Limits{
			Wall:         e.seconds("wall_timeout", 0),
			Output:       e.bounded("output_limit", mostOutput),
			Processes:    int(e.bounded("processes", mostProcesses)),
			AddressSpace: e.flag("address_space"),
		},
	}
	if text := e.text("stdin"); text != "" {
		var err error
		if ext.stdin, err = base64.StdEncoding.DecodeString(text); err != nil {
			e.faults.value(e.at("stdin"), e.values["stdin"], "not base64: %v", err)
		}
	}
	ext.call, ext.check = parseCall(e), parseCheck(e)
	if ext.call != nil && ext.check != nil {
		e.faults.value(e.loc, e.whole, "call and check exclude each other")
	}
	return ext
}

func parseCall(f fields) *sandbox.Call {
	v, ok := f.get("call")
	if !ok {
		return nil
	}
	c, ok := openDict(f.faults, f.at("call"), v)
	if !ok {
		return nil
	}
	c.nullable = true
	call := &sandbox.Call{Class: c.text("class"), Method: c.requiredText("method")}
	for i, text := range c.texts("args") {
		if _, fault := parseJSON(text); fault != nil {
			c.faults.value(append(c.at("args"), i), raw(encode(text)), "not the text of a JSON value: %s", fault.msg)
		}
		call.Args = append(call.Args, json.RawMessage(text))
	}
	return call
}

func parseCheck(f fields) *sandbox.Check {
	v, ok := f.get("check")
	if !ok {
		return nil
	}
	c, ok := openDict(f.faults, f.at("check"), v)
	if !ok {
		return nil
	}
	c.nullable = true
	return &sandbox.Check{
		Tests: c.requiredText("tests"), Entry: c.text("entry"), Setup: c.text("setup"),
		Main: c.flag("main"), Together: c.flag("together"),
	}
}

// texts reads a list of strings.
func (f fields) texts(key string) []string {
	var texts []string
	for i, v := range f.list(key) {
		text, _ := textOf(f.faults, append(f.at(key), i), v)
		texts = append(texts, text)
	}
	return texts
}

// bounded reads a whole number from 1 to most, 0 when there is none.
func (f fields) bounded(key string, most int64) int64 {
	v, ok := f.get(key)
	if !ok {
		return 0
	}
	n := f.integer(key, 1)
	if n < 1 || n > most {
		f.faults.value(f.at(key), v, "want 1 to %d", most)
	}
	return n
}

// apply completes the job of a request that has the member.
func (e *extension) apply(job *sandbox.Job) {
	if e == nil {
		return
	}
	job.Prelude, job.LongInts, job.Args, job.Call, job.Check = e.prelude, e.longInts, e.args, e.call, e.check
	if e.stdin != nil {
		job.Stdin = e.stdin
	}
	limits := e.limits
	limits.CPU, limits.Memory = job.Limits.CPU, job.Limits.Memory
	job.Limits = limits
}

// extensionAnswer is the member cr of an answer: the run as the sandbox saw it.
type extensionAnswer struct {
	Status   sandbox.Status `json:"status"`
	ExitCode int            `json:"exit_code"`
	Signal   string         `json:"signal"`
	CPU      float64        `json:"cpu_time"` // seconds
	Memory   int64          `json:"memory"`   // bytes at the peak
	// Value is the text of a call's value, JSON as Python writes it; null if
	// none came back.
	Value  *string              `json:"value"`
	Check  *sandbox.CheckResult `json:"check"`
	Stdout []byte               `json:"stdout,omitempty"` // when run_result cannot hold its bytes
}

// extend adds the member cr to the answer for a request that has one.
func (e *extension) extend(r *runResponse, run *sandbox.Result) {
	if e == nil {
		return
	}
	x := &extensionAnswer{
		Status: run.Status, ExitCode: run.ExitCode, Signal: run.Signal,
		CPU: float64(run.CPU) / float64(time.Second), Memory: run.Memory, Check: run.Check,
	}
	if run.Value != nil {
		text := string(run.Value)
		x.Value = &text
	}
	if r.RunResult != nil && run.Status != sandbox.OutputLimitExceeded && r.RunResult.Stdout != string(run.Stdout) {
		x.Stdout = run.Stdout
	}
	r.Extension = x
}
