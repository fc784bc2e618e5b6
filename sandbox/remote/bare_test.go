package remote_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// barePython is a service that does what ScaleBox does for Python: it starts a new
// interpreter on a file in a directory, with nothing around it. Only programs of
// these tests may be sent to it.
func barePython(t *testing.T) http.Handler {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Code  string
			Stdin string
			Files map[string][]byte
			Fetch []string `json:"fetch_files"`
		}
		if r.URL.Path != "/run_code" || json.NewDecoder(r.Body).Decode(&request) != nil {
			http.NotFound(w, r)
			return
		}
		dir := t.TempDir()
		if request.Files == nil {
			request.Files = map[string][]byte{}
		}
		request.Files["tmp1.py"] = []byte(request.Code)
		for name, data := range request.Files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
				t.Error(err)
			}
		}
		code, stdout, stderr := runBare(t, exec.CommandContext(r.Context(), python, "tmp1.py"), dir, request.Stdin)
		files := map[string][]byte{}
		for _, name := range request.Fetch {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				files[name] = data
			}
		}
		status := "Success"
		if code != 0 {
			status = "Failed"
		}
		err := json.NewEncoder(w).Encode(map[string]any{
			"status": status, "message": "", "compile_result": nil, "executor_pod_name": nil, "files": files,
			"run_result": map[string]any{
				"status": "Finished", "execution_time": 0.1, "return_code": code, "stdout": stdout, "stderr": stderr,
			},
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// runBare returns the exit status as Python's subprocess has it.
func runBare(t *testing.T, cmd *exec.Cmd, dir, stdin string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, bytes.NewBufferString(stdin), &out, &errs
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return -int(status.Signal()), out.String(), errs.String()
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
