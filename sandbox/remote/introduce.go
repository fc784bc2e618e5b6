package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/coderl/cr/sandbox"
)

// Words about a service that is not cr's own.
const (
	foreignLayer = "ScaleBox-compatible service that says nothing of its isolation"
	framedLayer  = "values of calls pass through the program's own process"
)

// maxHealth bounds what /healthz may say.
const maxHealth = 1 << 20

// introduce finds out what the service is and that it works, and returns how many
// programs it runs at a time, 0 if it does not say.
func (c *Client) introduce(ctx context.Context) (workers int, err error) {
	patience := min(c.patience, openPatience)
	wait := waiting{again: patience, each: max(patience, leastWait)}
	var h health
	_, err = c.again(ctx, wait, func(ctx context.Context) (_ []byte, err error) {
		h, err = c.health(ctx)
		return nil, err
	})
	if err != nil {
		return 0, err
	}
	c.own = h.Service == "cr" && h.Extension >= 1
	c.isolation = sandbox.Isolation{Tier: "remote", Layers: []string{foreignLayer, framedLayer}}
	if c.own {
		c.isolation.Layers = slices.Concat([]string{"cr service with isolation " + h.Isolation.Tier}, h.Isolation.Layers)
	}
	c.isolation.Interpreter, err = c.probe(ctx, wait)
	return h.Workers, err
}

// health asks how the service is; zero for one that does not know the question.
func (c *Client) health(ctx context.Context) (h health, err error) {
	data, err := c.send(ctx, http.MethodGet, "/healthz", nil, maxHealth)
	var refused *statusError
	switch {
	case errors.As(err, &refused):
		data = refused.said // it may still say who it is
	case err != nil && !errors.Is(err, errTooLong):
		return h, err
	}
	var said health
	if json.Unmarshal(data, &said) != nil || said.Service != "cr" {
		if errors.As(err, new(*retryable)) {
			return h, err // somebody before it, perhaps, that knows it to be down
		}
		return h, nil
	}
	if refused != nil {
		return h, &retryable{err: fmt.Errorf("the service is %s: %s", said.Status, short(said.Error))}
	}
	return said, nil
}

// probeCode prints which Python runs programs, and what it was given.
const probeCode = "import sys\nprint(sys.version.split()[0], input())\n"

// probe runs a program, which shows the token to be right and the service to be
// one.
func (c *Client) probe(ctx context.Context, wait waiting) (version string, err error) {
	job := sandbox.Job{Language: "python", Code: probeCode, Stdin: []byte("probe\n"), Limits: withDefaults(sandbox.Limits{})}
	data, err := c.post(ctx, "/run_code", foreignRequest(&job), answerLimit(&job), wait)
	var refused *statusError
	switch {
	case errors.As(err, &refused) && (refused.code == http.StatusNotFound || refused.code == http.StatusMethodNotAllowed):
		return "", fmt.Errorf("there is no /run_code here, so this is no ScaleBox service: %w", err)
	case err != nil:
		return "", err
	}
	result, err := foreignResult(data, &job)
	if err != nil {
		return "", err
	}
	version, echo, _ := strings.Cut(strings.TrimSuffix(string(result.Stdout), "\n"), " ")
	if result.Status != sandbox.OK || echo != "probe" {
		return "", fmt.Errorf("a small Python program failed there: %s, printed %.80q, stderr %.200q", result.Status, result.Stdout, result.Stderr)
	}
	return version, nil
}
