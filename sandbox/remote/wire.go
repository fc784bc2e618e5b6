package remote

import (
	"encoding/json"
	"time"

	"github.com/coderl/cr/sandbox"
)

// apiName is what the API calls a language of the sandbox's table.
func apiName(language string) string {
	switch language {
	case "javascript":
		return "nodejs"
	case "r":
		return "R"
	case "d_ut":
		return "D_ut"
	}
	return language
}

// request is the body of /run_code.
type request struct {
	Language string `json:"language"`
	Code     string `json:"code"`
	// Stdin is always sent: without it ScaleBox leaves the program's input open.
	Stdin          string            `json:"stdin"`
	CompileTimeout float64           `json:"compile_timeout"`
	RunTimeout     float64           `json:"run_timeout"`
	Memory         int64             `json:"memory_limit_MB,omitempty"`
	Files          map[string][]byte `json:"files,omitempty"`
	Fetch          []string          `json:"fetch_files,omitempty"`
	Extension      *extension        `json:"cr,omitempty"`
}

// extension is the member cr of a request to a service of cr's own.
type extension struct {
	Prelude      bool     `json:"prelude,omitempty"`
	LongInts     bool     `json:"long_ints,omitempty"`
	Args         []string `json:"args,omitempty"`
	Stdin        []byte   `json:"stdin,omitempty"`
	Call         *call    `json:"call,omitempty"`
	Check        *check   `json:"check,omitempty"`
	WallTimeout  float64  `json:"wall_timeout,omitempty"`
	OutputLimit  int64    `json:"output_limit,omitempty"`
	Processes    int      `json:"processes,omitempty"`
	AddressSpace bool     `json:"address_space,omitempty"`
}

// call asks for a function's value. Arguments are texts of JSON values, since
// Python's NaN is not JSON.
type call struct {
	Nonce  string   `json:"nonce,omitempty"` // for the driver program only
	Class  string   `json:"class"`
	Method string   `json:"method"`
	Args   []string `json:"args"`
}

type check struct {
	Tests    string `json:"tests"`
	Entry    string `json:"entry"`
	Setup    string `json:"setup"`
	Main     bool   `json:"main"`
	Together bool   `json:"together"`
}

// answer is the body of an answer of /run_code.
type answer struct {
	Status        string            `json:"status"`
	Message       string            `json:"message"`
	CompileResult *command          `json:"compile_result"`
	RunResult     *command          `json:"run_result"`
	Files         map[string][]byte `json:"files"`
	Extension     *extensionAnswer  `json:"cr"`
}

// command is what the compiler or the program did.
type command struct {
	Status        string  `json:"status"`
	ExecutionTime float64 `json:"execution_time"`
	ReturnCode    *int    `json:"return_code"`
	Stdout        string  `json:"stdout"`
	Stderr        string  `json:"stderr"`
}

// extensionAnswer is the run as a service of cr's own saw it.
type extensionAnswer struct {
	Status   sandbox.Status       `json:"status"`
	ExitCode int                  `json:"exit_code"`
	Signal   string               `json:"signal"`
	CPU      float64              `json:"cpu_time"`
	Memory   int64                `json:"memory"`
	Value    *string              `json:"value"`
	Check    *sandbox.CheckResult `json:"check"`
	Stdout   []byte               `json:"stdout"`
}

// health is the body of /healthz of a service of cr's own.
type health struct {
	Service   string            `json:"service"`
	Status    string            `json:"status"`
	Error     string            `json:"error"`
	Extension int               `json:"extension"`
	Workers   int               `json:"workers"`
	Isolation sandbox.Isolation `json:"isolation"`
}

func newCall(c *sandbox.Call) *call {
	if c == nil {
		return nil
	}
	return &call{Class: c.Class, Method: c.Method, Args: texts(c.Args)}
}

func newCheck(c *sandbox.Check) *check {
	if c == nil {
		return nil
	}
	return &check{Tests: c.Tests, Entry: c.Entry, Setup: c.Setup, Main: c.Main, Together: c.Together}
}

func texts(values []json.RawMessage) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// seconds turns a time of an answer into a duration, within reason.
func seconds(s float64) time.Duration {
	const most = 24 * time.Hour
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, most.Seconds()) * float64(time.Second))
}
