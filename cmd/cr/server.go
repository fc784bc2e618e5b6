package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/coderl/cr/eval/agent"
)

// serverFlags name an OpenAI-compatible server instead of the embedded engine.
type serverFlags struct {
	Endpoint string `placeholder:"URL" help:"An OpenAI-compatible server instead of the embedded engine; --model is the name it serves."`
	APIKey   string `name:"api-key" env:"OPENAI_API_KEY" placeholder:"KEY" help:"Bearer token for --endpoint."`
}

// Validate is called by the commands that embed the flags.
func (f serverFlags) Validate() error {
	if f.Endpoint == "" {
		return nil
	}
	if u, err := url.Parse(f.Endpoint); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("--endpoint %s: not an http(s) URL, such as http://host:8000/v1", f.Endpoint)
	}
	return nil
}

// connect asks the server for its model. One that is starting is waited for.
func (f serverFlags) connect(ctx context.Context, c *console, model string) (*agent.OpenAI, error) {
	c.note("endpoint %s: asking for its models; one that is starting is waited for, half a minute", f.Endpoint)
	server, err := agent.NewOpenAI(ctx, agent.OpenAIConfig{URL: f.Endpoint, Model: model, Token: f.APIKey})
	var status *agent.StatusError
	switch {
	case err == nil:
		return server, nil
	case errors.As(err, &status) && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden):
		return nil, usagef("%w (the key is --api-key or OPENAI_API_KEY)", err)
	case errors.Is(err, agent.ErrFatal):
		return nil, usagef("%w (--endpoint, --model)", err)
	}
	return nil, fmt.Errorf("--endpoint: %w (is it running, and is this its address?)", err)
}
