package remote

import (
	"testing"

	"github.com/coderl/cr/sandbox"
)

// FuzzAnswer feeds the client what a service might say.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status":"Success","run_result":{"status":"Finished","return_code":0,"stdout":"x\nNONCEv[1]\n"}}`))
	f.Add([]byte(`{"status":"Failed","run_result":{"status":"TimeLimitExceeded","return_code":null}}`))
	f.Add([]byte(`{"status":"Failed","compile_result":{"status":"Finished","return_code":1e99}}`))
	f.Add([]byte(`{"status":"Success","run_result":{"status":"Finished","execution_time":1e300,"return_code":-99999}}`))
	f.Add([]byte(`{"status":"Success","run_result":null,"cr":{"status":"OK","cpu_time":-1,"value":"1"}}`))
	job := &sandbox.Job{Language: "python", Call: &sandbox.Call{Method: "f"}, Limits: withDefaults(sandbox.Limits{})}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, read := range []func() (sandbox.Result, error){
			func() (sandbox.Result, error) { return ownResult(body) },
			func() (sandbox.Result, error) {
				r, err := foreignResult(body, job)
				if err == nil {
					err = unframe(&r, "NONCE")
				}
				if err == nil && r.Status == sandbox.OK && r.Value == nil {
					t.Errorf("%q: a call that ended well without a value", body)
				}
				return r, err
			},
		} {
			r, err := read()
			if err == nil && (r.Status == "" || r.CPU < 0 || r.Wall < 0) {
				t.Errorf("%q: neither a result nor an error: %+v", body, r)
			}
		}
	})
}
