package verl_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coderl/cr/recipes/verl"
)

// head stands where a Ray cluster's dashboard stands, and keeps what it is sent.
type head struct {
	mu     sync.Mutex
	parcel []byte // the working directory
	job    struct {
		Entrypoint string `json:"entrypoint"`
		RuntimeEnv struct {
			WorkingDir string            `json:"working_dir"`
			EnvVars    map[string]string `json:"env_vars"`
			Excludes   []string          `json:"excludes"`
		} `json:"runtime_env"`
	}
}

func (h *head) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/api/version":
		_, _ = io.WriteString(w, `{"version": "4", "ray_version": "2.60.0", "ray_commit": "", "session_name": "s"}`)
	case strings.HasPrefix(r.URL.Path, "/api/packages/") && r.Method == http.MethodPut:
		h.parcel = body
	case strings.HasPrefix(r.URL.Path, "/api/packages/"):
		http.Error(w, "not here", http.StatusNotFound)
	case r.URL.Path == "/api/jobs/" && r.Method == http.MethodPost:
		if err := json.Unmarshal(body, &h.job); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"job_id": "raysubmit_1", "submission_id": "raysubmit_1"}`)
	default:
		http.Error(w, r.URL.Path, http.StatusNotFound)
	}
}

// The real ray submits a bundle: the whole of it travels, with the environment.
func TestRaySubmits(t *testing.T) {
	for version, python := range pythons(t) {
		if exec.CommandContext(t.Context(), python, "-c", "import ray.dashboard.modules.job.sdk").Run() != nil {
			t.Logf("verl %s: its Python has no ray[default]", version)
			continue
		}
		plan, err := verl.RL(loadRL(t, "code-rl", "verl.nodes=2"), verl.Options{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := plan.Write(dir); err != nil {
			t.Fatal(err)
		}
		h := &head{}
		server := httptest.NewServer(h)
		defer server.Close()
		var said bytes.Buffer
		job, err := verl.Submit(t.Context(), python, server.URL, dir, &said)
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		if job != "raysubmit_1" {
			t.Errorf("the job is %q; ray says %q", job, said.String())
		}
		if h.job.Entrypoint != "bash run.sh" || h.job.RuntimeEnv.EnvVars["HCCL_CONNECT_TIMEOUT"] != "3600" ||
			!strings.HasPrefix(h.job.RuntimeEnv.WorkingDir, "gcs://") || !slices.Equal(h.job.RuntimeEnv.Excludes, []string{"/.git/"}) {
			t.Errorf("the job is %+v", h.job)
		}
		archive, err := zip.NewReader(bytes.NewReader(h.parcel), int64(len(h.parcel)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range archive.File {
			names = append(names, f.Name)
		}
		for _, want := range []string{"run.sh", "tool_config.yaml", "cr_verl/reward.py", "cr_verl/tool.py"} {
			if !slices.Contains(names, want) {
				t.Errorf("the parcel has no %s: %v", want, names)
			}
		}
		return
	}
	t.Skip("no Python of CR_TEST_VERL has ray[default]")
}

func TestSubmitWithoutRay(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := verl.Submit(t.Context(), "", "http://127.0.0.1:1", ".", io.Discard); err == nil || !strings.Contains(err.Error(), "pip install 'ray[default]'") {
		t.Errorf("got %v", err)
	}
}

// A stand-in for ray gets the bundle's folder as one word, whatever its name; its
// id is found in what it prints, and a failure is no success.
func TestSubmitByTheCommand(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()+"/my run; it's"
	stub := "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\necho \"Job 'raysubmit_AbC1' submitted successfully\"\nexit ${RAY_FAILS:-0}\n"
	if err := os.WriteFile(bin+"/ray", []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	var said bytes.Buffer
	job, err := verl.Submit(t.Context(), "", "http://head:8265", dir, &said)
	if err != nil || job != "raysubmit_AbC1" || !strings.Contains(said.String(), "<--working-dir="+dir+">\n<--runtime-env="+dir+"/runtime_env.yaml>") {
		t.Errorf("%q, %v: %s", job, err, said.String())
	}
	t.Setenv("RAY_FAILS", "3")
	if _, err := verl.Submit(t.Context(), "", "http://head:8265", dir, io.Discard); err == nil || err.Error() != "ray job submit to http://head:8265: exit status 3" {
		t.Errorf("got %v", err)
	}
}
