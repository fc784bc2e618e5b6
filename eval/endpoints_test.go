package eval

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// randomModel writes a Qwen3 model of one layer with random weights and the
// small tokenizer of runtime/chat. Its head favours <|im_end|> and <tool_call>
// (ids 422 and 423), so that turns end and hold calls, if broken ones.
func randomModel(t *testing.T) string {
	t.Helper()
	const hidden, heads, kv, head, inner, vocab = 32, 2, 1, 16, 48, 427
	rng := rand.New(rand.NewPCG(3, 4))
	var tensors []weights.NamedTensor
	add := func(name string, scale float32, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		host := tensor.Host{DType: tensor.F32, Shape: shape}
		for i := range n {
			v := float32(rng.NormFloat64()) * scale
			if len(shape) == 1 {
				v = 1 + v/10
			}
			if first := i%hidden == 0; first && name == "model.embed_tokens.weight" {
				v = 3 // the same for all tokens: what the head's first column is a bias by
			} else if first && name == "lm_head.weight" {
				v = map[int]float32{422: 1.1, 423: 1.5}[i/hidden]
			}
			host.Data = binary.LittleEndian.AppendUint32(host.Data, math.Float32bits(v))
		}
		tensors = append(tensors, weights.NamedTensor{Name: name, Host: host})
	}
	add("model.embed_tokens.weight", 1, vocab, hidden)
	add("model.norm.weight", 1, hidden)
	add("lm_head.weight", .3, vocab, hidden)
	const layer = "model.layers.0."
	add(layer+"input_layernorm.weight", .3, hidden)
	add(layer+"post_attention_layernorm.weight", .3, hidden)
	add(layer+"self_attn.q_proj.weight", .3, heads*head, hidden)
	add(layer+"self_attn.k_proj.weight", .3, kv*head, hidden)
	add(layer+"self_attn.v_proj.weight", .3, kv*head, hidden)
	add(layer+"self_attn.o_proj.weight", .05, hidden, heads*head)
	add(layer+"self_attn.q_norm.weight", .3, head)
	add(layer+"self_attn.k_norm.weight", .3, head)
	add(layer+"mlp.gate_proj.weight", .3, inner, hidden)
	add(layer+"mlp.up_proj.weight", .3, inner, hidden)
	add(layer+"mlp.down_proj.weight", .05, hidden, inner)
	dir := t.TempDir()
	must(t, weights.WriteSafetensors(filepath.Join(dir, "model.safetensors"), tensors))
	config := map[string]any{
		"model_type": "qwen3", "architectures": []string{"Qwen3ForCausalLM"}, "hidden_act": "silu",
		"rms_norm_eps": 1e-6, "max_position_embeddings": 8192, "rope_theta": 1e6, "eos_token_id": 422,
		"hidden_size": hidden, "num_attention_heads": heads, "num_key_value_heads": kv, "head_dim": head,
		"intermediate_size": inner, "vocab_size": vocab, "num_hidden_layers": 1, "tie_word_embeddings": false,
		"torch_dtype": "float32",
	}
	raw, err := json.Marshal(config)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600))
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} {
		raw, err := os.ReadFile(filepath.Join("../runtime/chat/testdata/tiny", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recorder writes down every conversation of an endpoint.
type recorder struct {
	agent.Endpoint
	log []*recordedConversation
}

func (r *recorder) Start(ctx context.Context, o agent.Opening) (agent.Conversation, error) {
	conv, err := r.Endpoint.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &recordedConversation{Conversation: conv, length: conv.PromptTokens()}
	r.log = append(r.log, c)
	return c, nil
}

// recordedConversation has the turns with the lengths of their prompts.
type recordedConversation struct {
	agent.Conversation
	turns   []agent.Turn
	prompts []int
	length  int
}

func (c *recordedConversation) Next(ctx context.Context, limit int) (agent.Turn, error) {
	turn, err := c.Conversation.Next(ctx, limit)
	c.turns, c.prompts = append(c.turns, turn), append(c.prompts, c.length)
	c.length += turn.Tokens
	return turn, err
}

func (c *recordedConversation) Reply(ctx context.Context, results []chat.Message) (int, error) {
	n, err := c.Conversation.Reply(ctx, results)
	c.length += n
	return n, err
}

// turn is the n-th turn as a server would give it. Behind the last, where the
// engine was not asked because the replies had used the budget up, it goes on.
func (c *recordedConversation) turn(n int) (prompt int, turn agent.Turn) {
	if n >= len(c.turns) {
		return c.length, agent.Turn{Text: "and on", Tokens: 3, Finish: "stop"}
	}
	return c.prompts[n], c.turns[n]
}

// replay serves recorded conversations one after another.
func replay(t *testing.T, log []*recordedConversation) *httptest.Server {
	t.Helper()
	current := -1
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Messages []chat.Message }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		said := 0
		for _, m := range request.Messages {
			if m.Role == "assistant" {
				said++
			}
		}
		if said == 0 {
			current++
		}
		if said > 0 && request.Messages[2].Content != log[current].turns[0].Text {
			t.Errorf("the history begins with %q", request.Messages[2].Content)
		}
		prompt, turn := log[current].turn(said)
		err := json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{
				"message":       map[string]any{"role": "assistant", "content": turn.Text},
				"finish_reason": turn.Finish,
			}},
			"usage": map[string]int{"prompt_tokens": prompt, "completion_tokens": turn.Tokens},
		})
		if err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// The embedded engine and a server that replays its tokens give the same run,
// over several turns with tool replies.
func TestEngineAndServerGiveTheSameRun(t *testing.T) {
	engine, err := runtime.Open(context.Background(), randomModel(t), runtime.Options{Threads: 1, CacheBytes: 32 << 20})
	must(t, err)
	defer func() { must(t, engine.Close()) }()
	embedded, err := agent.NewEmbedded(engine, false)
	must(t, err)
	rec := &recorder{Endpoint: embedded}
	c := testConfig(t)
	c.Concurrency, c.Sampling.Temperature, c.Budgets.Tokens = 1, 1, 900
	d := testDeps(4)
	d.Endpoint = rec
	r, samples, results := undisturbed(t, c, d)
	if 2*r.Turns < 3*r.Samples || r.Tokens.Tool == 0 || r.Truncated == 0 || r.Truncated == r.Samples {
		t.Fatalf("the random model's samples do not take every course: %+v", r)
	}

	server := replay(t, rec.log)
	c.Out = filepath.Join(t.TempDir(), "server")
	d.Endpoint, err = agent.NewOpenAI(context.Background(), agent.OpenAIConfig{
		URL: server.URL + "/v1", Model: "replayed", Attempts: 2, Backoff: time.Millisecond, Client: server.Client(),
	})
	must(t, err)
	_, samples2, results2 := undisturbed(t, c, d)
	if !bytes.Equal(samples, samples2) {
		t.Errorf("samples.jsonl differs:\n%s\n%s", samples, samples2)
	}
	if !bytes.Equal(results, results2) {
		t.Errorf("results.json differs:\n%s\n%s", results, results2)
	}

	// The engine gives the same run whatever runs beside.
	c.Out, c.Concurrency = filepath.Join(t.TempDir(), "batched"), 6
	d.Endpoint = embedded
	_, samples3, results3 := undisturbed(t, c, d)
	if !bytes.Equal(samples, samples3) || !bytes.Equal(results, results3) {
		t.Error("the batched run differs from the one sample by sample")
	}
}
