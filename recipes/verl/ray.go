package verl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
)

// RuntimeEnv is what Ray gives to every process of the job; its working directory
// is the bundle.
func (p Plan) RuntimeEnv() []byte {
	var b bytes.Buffer
	b.WriteString("excludes: [/.git/]\nenv_vars:\n")
	for _, v := range p.Env {
		fmt.Fprintf(&b, "  %s: %s\n", v.Name, strconv.Quote(v.Value))
	}
	return b.Bytes()
}

// SubmitArgs are the arguments of ray that submit a written bundle to the cluster
// whose dashboard is at address, http://HEAD:8265.
func SubmitArgs(address, dir string) []string {
	return []string{
		"job", "submit", "--address=" + address, "--working-dir=" + dir,
		"--runtime-env=" + dir + "/runtime_env.yaml", "--no-wait", "--", "bash", "run.sh",
	}
}

// ErrNoRay is returned when there is no ray to submit with.
var ErrNoRay = errors.New("there is no command ray: pip install 'ray[default]', or name a Python that has it with --verl-python")

// jobID is the name that Ray gives to a job, as its command prints it.
var jobID = regexp.MustCompile(`raysubmit_\w+`)

// Submit hands a written bundle to Ray and returns the job's id, empty where ray
// did not print it. Without python it runs the command ray, else that Python's.
// What ray says goes to out.
func Submit(ctx context.Context, python, address, dir string, out io.Writer) (job string, err error) {
	args := SubmitArgs(address, dir)
	program := "ray"
	if python != "" {
		program, args = python, append([]string{"-m", "ray.scripts.scripts"}, args...)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	both := io.MultiWriter(out, &said)
	cmd.Stdout, cmd.Stderr = both, both
	err = cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNoRay
	}
	if err != nil {
		return "", fmt.Errorf("ray job submit to %s: %w", address, err)
	}
	return jobID.FindString(said.String()), nil
}
