package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coderl/cr/datasets/hub/serve"
)

// put writes a file below dir.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// hubServer serves the repositories that the download script names.
func hubServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "org/tiny"), os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile("../../runtime/weights/testdata/torch/state.bin")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "org/torch/pytorch_model.bin"), state)
	put(t, filepath.Join(dir, "org/pointer/model.safetensors"),
		[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("0", 64)+"\nsize 12\n"))
	for _, repo := range []string{"org/holes", "org/shards"} {
		put(t, filepath.Join(dir, repo, "model.safetensors.index.json"),
			[]byte(`{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}`))
		put(t, filepath.Join(dir, repo, "model-00001-of-00002.safetensors"), oneTensor("a"))
	}
	put(t, filepath.Join(dir, "org/shards/model-00002-of-00002.safetensors"), oneTensor("b"))
	put(t, filepath.Join(dir, "org/misplaced/model.safetensors.index.json"), []byte(`{"weight_map": {"w": "1.safetensors", "b": "2.safetensors"}}`))
	put(t, filepath.Join(dir, "org/misplaced/1.safetensors"), oneTensor("b"))
	put(t, filepath.Join(dir, "org/misplaced/2.safetensors"), oneTensor("w"))
	problems, err := os.ReadFile("../../datasets/bundled/problems.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "datasets/livecodebench/code_generation_lite/test.jsonl"), problems)
	put(t, filepath.Join(dir, "datasets/livecodebench/code_generation_lite/test2.jsonl"), problems)
	put(t, filepath.Join(dir, "datasets/org/rows/data/rows.jsonl"), []byte("{}\n"))
	server := httptest.NewServer(serve.New(dir, serve.Options{}))
	t.Cleanup(server.Close)
	return server.URL
}

// oneTensor is a safetensors file of one F32.
func oneTensor(name string) []byte {
	header := `{"` + name + `":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	return append(append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...), 0, 0, 0, 0)
}

// slowHub serves org/m with one file of size bytes, slowly enough to be killed
// in the middle, and counts the bytes that it sent of it.
func slowHub(t *testing.T, size int, pause time.Duration) (url string, content []byte, sent *atomic.Int64) {
	t.Helper()
	dir := t.TempDir()
	content = make([]byte, size)
	_, _ = rand.Read(content) // never fails
	put(t, filepath.Join(dir, "org/m/model.bin"), content)
	hub := serve.New(dir, serve.Options{})
	sent = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/content/") {
			w = &slowWriter{w, pause, sent}
		}
		hub.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, content, sent
}

type slowWriter struct {
	http.ResponseWriter
	pause time.Duration
	sent  *atomic.Int64
}

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(w.pause)
	n, err := w.ResponseWriter.Write(p)
	w.sent.Add(int64(n))
	return n, err
}

// ReadFrom keeps io.Copy from going round Write.
func (w *slowWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// fetch is `cr download org/m` into dir's cache.
func fetch(t *testing.T, dir, url string, args ...string) *exec.Cmd {
	cmd := crCommand(t, dir, append([]string{"download", "org/m", "--endpoint", url, "--json"}, args...)...)
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return cmd
}

// cached returns the file that a successful download names.
func cached(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var result downloads
	if err := json.Unmarshal(cmd.Stdout.(*bytes.Buffer).Bytes(), &result); err != nil {
		t.Fatalf("%v: %s", err, cmd.Stderr)
	}
	data, err := os.ReadFile(filepath.Join(result.Repos[0].Dir, "model.bin"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// strays are the temporary files of downloads below dir.
func strays(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.incomplete", "*.parts"} {
		paths, err := filepath.Glob(filepath.Join(dir, ".cache/huggingface/hub/models--org--m/blobs", pattern))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, paths...)
	}
	return found
}

// kill -9 in the middle: the next run goes on from what is there.
func TestDownloadSurvivesKill(t *testing.T) {
	const size = 24 << 20
	url, content, sent := slowHub(t, size, 2*time.Millisecond)
	dir := t.TempDir()
	first := fetch(t, dir, url)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); sent.Load() < size/2 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Skip("the download was done before it was killed")
	}
	if len(strays(t, dir)) == 0 {
		t.Fatal("nothing is left to go on with")
	}
	before := sent.Load()
	second := fetch(t, dir, url)
	if err := second.Run(); err != nil {
		t.Fatalf("%v: %s", err, second.Stderr)
	}
	if !bytes.Equal(cached(t, second), content) {
		t.Fatal("wrong bytes")
	}
	if again := sent.Load() - before; again > size*3/4 {
		t.Errorf("%d of %d bytes were sent again", again, size)
	}
	if left := strays(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Ctrl-C: exit code 130, a word about going on, and going on.
func TestDownloadInterrupted(t *testing.T) {
	const size = 24 << 20
	url, content, sent := slowHub(t, size, 2*time.Millisecond)
	dir := t.TempDir()
	first := fetch(t, dir, url)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); sent.Load() < size/4 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := first.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v: %s", err, first.Stderr)
	}
	if said := first.Stderr.(*bytes.Buffer).String(); !strings.Contains(said, "goes on from there") {
		t.Errorf("it said %q", said)
	}
	second := fetch(t, dir, url)
	if err := second.Run(); err != nil || !bytes.Equal(cached(t, second), content) {
		t.Fatalf("%v: %s", err, second.Stderr)
	}
}

// Eight processes, one cache, with locks and without.
func TestDownloadByManyProcesses(t *testing.T) {
	for _, locks := range []bool{true, false} {
		url, content, _ := slowHub(t, 2<<20, 10*time.Millisecond)
		dir := t.TempDir()
		if !locks {
			put(t, filepath.Join(dir, ".cache/huggingface/hub/.locks"), nil)
		}
		var all sync.WaitGroup
		commands := make([]*exec.Cmd, 8)
		for i := range commands {
			commands[i] = fetch(t, dir, url)
			all.Go(func() {
				if err := commands[i].Run(); err != nil {
					t.Errorf("locks %v: %v: %s", locks, err, commands[i].Stderr)
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		if !bytes.Equal(cached(t, commands[0]), content) {
			t.Errorf("locks %v: wrong bytes", locks)
		}
		if left := strays(t, dir); len(left) != 0 {
			t.Errorf("locks %v: left behind: %v", locks, left)
		}
	}
}

// A disk that fills up on the way: one clear error, and a way on.
func TestDownloadOntoFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	url, content, sent := slowHub(t, 10<<20, 5*time.Millisecond)
	first := fetch(t, dir, url)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); sent.Load() < 1<<20 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	// Somebody else takes the space that was there at the start.
	put(t, filepath.Join(dir, "other"), make([]byte, 8<<20))
	var exit *exec.ExitError
	said := first.Stderr.(*bytes.Buffer)
	if err := first.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(said.String(), "not enough disk space") {
		t.Fatalf("%v: %s", err, said)
	}
	// Too full from the start is noticed before anything is fetched.
	early := fetch(t, dir, url)
	if err := early.Run(); !errors.As(err, &exit) || !strings.Contains(early.Stderr.(*bytes.Buffer).String(), "bytes to write") {
		t.Errorf("%v: %s", err, early.Stderr)
	}
	if err := os.Remove(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	second := fetch(t, dir, url)
	if err := second.Run(); err != nil || !bytes.Equal(cached(t, second), content) {
		t.Fatalf("%v: %s", err, second.Stderr)
	}
}
