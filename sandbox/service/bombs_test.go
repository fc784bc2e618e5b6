package service

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombsCostWhatTheyWeigh sends bodies that are small for their many parts:
// each is refused, and neither that nor the answer costs much more than reading it.
func TestBombsCostWhatTheyWeigh(t *testing.T) {
	many := strings.Repeat("0,", 1<<20) + "0"
	var members strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&members, `,"k%d":0`, i)
	}
	program := `{"completion":"` + "```python\\ndef f(*a): return 1\\n```" + `","config":{"language":"python","provided_data":{"test_cases":`
	for name, row := range map[string]struct{ path, body string }{
		"files to fetch": {"/run_code", `{"language":"python","code":"1","fetch_files":[` + many + `]}`},
		"arguments":      {"/run_code", `{"language":"python","code":"1","cr":{"args":[` + many + `]}}`},
		"members":        {"/run_code", `{"language":"python","code":"1"` + members.String() + `,"files":3}`},
		"rows":           {"/common_evaluate_batch", program + "[" + many + `]}}}`},
		"columns":        {"/common_evaluate_batch", program + `{"input":[` + many + `],"output":[` + many + `]}}}}`},
		"call":           {"/common_evaluate_batch", program + `{"type":"function_call","fn_name":"f","input":[[` + many + `]],"output":[[1]]}}}}`},
		"lines": {"/common_evaluate_batch", program + `{"type":"function_call","fn_name":"f","input":["` +
			strings.Repeat(`0\n`, 1<<20) + `0"],"output":[[1]]}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(fake(echo), Config{})
			var got answer
			used := allocated(func() {
				w := httptest.NewRecorder()
				s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, row.path, strings.NewReader(row.body)))
				got = answer{w.Code, w.Header(), w.Body.Bytes()}
			})
			if got.code != http.StatusUnprocessableEntity || len(got.body) > 64<<10 {
				t.Errorf("answered %d with %d bytes", got.code, len(got.body))
			}
			if most := uint64(16*len(row.body) + 1<<20); used > most {
				t.Errorf("%d bytes allocated for a body of %d", used, len(row.body))
			}
		})
	}
}

// TestOutputsAreCutAsTheyCome judges many cases of a program that writes much: it
// must not all be held until the last.
func TestOutputsAreCutAsTheyCome(t *testing.T) {
	const each, cases = 8 << 20, 60
	var peak atomic.Uint64
	loud := fake(func(context.Context, sandbox.Job) (sandbox.Result, error) {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak.Store(max(peak.Load(), now.HeapAlloc))
		return sandbox.Result{Status: sandbox.OK, Stdout: []byte(strings.Repeat("x", each))}, nil
	})
	_, url := serve(t, loud, Config{Workers: 1})
	body := batch("print(1)", make([]string, cases), make([]string, cases), object{"run_all_cases": true})
	got := post(t, url+"/common_evaluate_batch", body)
	if rows := len(got.eval(t).Tests); rows != cases || len(got.body) > keptTotal+1<<20 {
		t.Errorf("%d rows in %d bytes", rows, len(got.body))
	}
	if peak.Load() > keptTotal+8*each {
		t.Errorf("%d MB were held", peak.Load()>>20)
	}
}

// TestUnreadAnswersAreBounded fills the house with answers: a further one finds no
// room, and the next does once they have gone.
func TestUnreadAnswersAreBounded(t *testing.T) {
	loud := fake(func(context.Context, sandbox.Job) (sandbox.Result, error) {
		return sandbox.Result{Status: sandbox.OK, Stdout: make([]byte, 1<<20)}, nil
	})
	s, url := serve(t, loud, Config{MaxBody: 1 << 20, MaxBodies: 4 << 20})
	guest, refused := s.admission.enter("127.0.0.1", 0)
	if refused != admitted || !guest.grow(5<<19) {
		t.Fatal("no room in an empty house")
	}
	body := object{"language": "python", "code": "1"}
	if got := post(t, url+"/run_code", body); got.code != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("beside too large answers: %d %.100s", got.code, got.body)
	}
	guest.leave()
	if got := post(t, url+"/run_code", body); got.code != http.StatusOK {
		t.Errorf("in an empty house: %d %.100s", got.code, got.body)
	}
}
