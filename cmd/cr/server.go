package main

import (
	"context"
	"errors"

	"github.com/coderl/cr/eval/agent"
)

// serverFlags name an OpenAI-compatible server instead of the embedded engine.
type serverFlags struct {
	Endpoint string `placeholder:"URL" help:"An OpenAI-compatible server instead of the embedded engine; --model is the name it serves."`
	APIKey   string `name:"api-key" env:"OPENAI_API_KEY" placeholder:"KEY" help:"Bearer token for --endpoint."`
}

// connect asks the server for its model.
func (f serverFlags) connect(ctx context.Context, model string) (*agent.OpenAI, error) {
	server, err := agent.NewOpenAI(ctx, agent.OpenAIConfig{URL: f.Endpoint, Model: model, Token: f.APIKey})
	if errors.Is(err, agent.ErrFatal) {
		return nil, badInput(err)
	}
	return server, err
}
