package preset

import (
	"fmt"
	"slices"
)

// SFT is a recipe of supervised fine-tuning. Every default is what verl's
// trainer takes when nothing is set.
type SFT struct {
	Kind  string `yaml:"kind" enum:"sft" doc:"What the recipe trains by."`
	Model Model  `yaml:"model" doc:"What is trained."`
	Data  Data   `yaml:"data" doc:"What it is trained on."`
	Batch Batch  `yaml:"batch" doc:"How much of the data makes one step."`
	Loss  Loss   `yaml:"loss" doc:"What a step minimises."`
	Optim Optim  `yaml:"optim" doc:"AdamW and its learning rate."`
	Train Train  `yaml:"train" doc:"How long, and what is kept."`
	Seed  uint64 `yaml:"seed" default:"1" doc:"Seed of the data order and of a new model's weights."`
	Verl  Verl   `yaml:"verl" doc:"Read by --engine verl alone, but for the ranks of loss.norm verl."`
}

// Model says what is trained: a checkpoint, or a new model.
type Model struct {
	Path          string    `yaml:"path" doc:"A folder in Hugging Face layout, a .gguf file, or hub:ORG/NAME[@REV]. Empty with model.new."`
	New           *NewModel `yaml:"new,omitempty" doc:"A model from nothing, instead of model.path."`
	DType         string    `yaml:"dtype" enum:"f32|bf16" default:"bf16" doc:"Type of the forward and backward computation; the weights are kept in f32."`
	SaveDType     string    `yaml:"save_dtype" enum:"model|f32|bf16" default:"model" doc:"Type of the weights in checkpoints: the model's own, f32 or bf16." resume:"free"`
	Checkpointing bool      `yaml:"checkpointing" default:"true" doc:"Recompute activations in the backward pass instead of keeping them."`
	LoRA          LoRA      `yaml:"lora" doc:"Low-rank adapters instead of all weights."`
}

// NewModel is the shape of a model that starts from random weights.
type NewModel struct {
	Tokenizer     string  `yaml:"tokenizer" doc:"A model whose tokenizer and chat template are taken: a folder with tokenizer.json and tokenizer_config.json, or a shipped model's name."`
	Arch          string  `yaml:"arch" enum:"qwen3|llama" default:"qwen3" doc:"Architecture."`
	Hidden        int     `yaml:"hidden" min:"1" max:"65536" default:"192" doc:"Width of the residual stream."`
	Layers        int     `yaml:"layers" min:"1" max:"1024" default:"4" doc:"Decoder layers."`
	Heads         int     `yaml:"heads" min:"1" max:"1024" default:"6" doc:"Query heads."`
	KVHeads       int     `yaml:"kv_heads" min:"1" max:"1024" default:"2" doc:"Key and value heads; a divisor of heads."`
	HeadDim       int     `yaml:"head_dim" min:"2" max:"1024" default:"32" doc:"Width of a head; even."`
	FFN           int     `yaml:"ffn" min:"1" max:"1048576" default:"512" doc:"Width of the feed-forward layer."`
	Context       int     `yaml:"context" min:"1" max:"1048576" default:"2048" doc:"Longest sequence, in tokens."`
	RopeTheta     float64 `yaml:"rope_theta" above:"0" default:"10000" doc:"Base of the rotary embedding."`
	NormEps       float64 `yaml:"norm_eps" above:"0" default:"1e-6" doc:"Added to the mean square in RMSNorm."`
	TieEmbeddings bool    `yaml:"tie_embeddings" default:"true" doc:"One matrix for the embedding and the output."`
}

// LoRA chooses low-rank adapters (Hu et al., arXiv 2106.09685): W + alpha/rank·B·A.
type LoRA struct {
	Rank    int      `yaml:"rank" min:"0" max:"4096" default:"0" doc:"Rank of the adapters; 0 trains all weights."`
	Alpha   float64  `yaml:"alpha" min:"1e-6" max:"1000000" default:"16" doc:"The adapters' product is scaled by alpha/rank."`
	Targets []string `yaml:"targets" enum:"q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj" default:"[q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]" doc:"The matrices that get an adapter."`
}

// Data says which conversations are learned, and how.
//
// Files may be named anew when a run is resumed: what is compared is the
// examples that they give.
type Data struct {
	Train       string `yaml:"train" doc:"Conversations: a parquet or JSONL file, or a folder of them." resume:"free"`
	Validation  string `yaml:"validation" doc:"The same for the validation loss; empty for none." resume:"free"`
	MessagesKey string `yaml:"messages_key" default:"messages" doc:"Column of the conversation."`
	ToolsKey    string `yaml:"tools_key" default:"tools" doc:"Column of the tools; may be absent."`
	MaxLength   int    `yaml:"max_length" min:"2" max:"1048576" default:"16384" doc:"Longest conversation, in tokens."`
	OverLong    string `yaml:"over_long" enum:"error|drop|truncate" default:"error" doc:"What becomes of a longer one; dropped and truncated ones are counted."`
	Faulty      string `yaml:"faulty" enum:"error|drop|keep" default:"error" doc:"What becomes of rows that the template refuses or mangles, and of broken tool calls. keep trains those whose text the template changes as it gives them, and drops the rest."`
	Thinking    string `yaml:"thinking" enum:"keep|strip|all" default:"keep" doc:"keep: reasoning goes to the template as it stands in the data, and which of it shows is the template's rule. strip: it is taken out first. all: as keep, but a row whose reasoning the template hides anywhere is faulty."`
	Mask        string `yaml:"mask" enum:"turn|verl" default:"turn" doc:"turn: loss on what the model itself writes, the end of its turn included. verl: and on the line break behind that."`
	Shuffle     bool   `yaml:"shuffle" default:"true" doc:"A new order each epoch, by the seed; false keeps the file's."`
}

// Batch is the size of a step and of the pieces it is computed in.
type Batch struct {
	Size   int `yaml:"size" min:"1" max:"1048576" default:"32" doc:"Conversations in a step."`
	Tokens int `yaml:"tokens" min:"2" max:"16777216" default:"16384" doc:"Most tokens that are computed at once; conversations are packed up to it without seeing one another. One longer conversation goes alone."`
	Micro  int `yaml:"micro" min:"1" max:"1048576" default:"8" doc:"Conversations of a micro-batch in verl; it decides the loss only with loss.norm verl."`
}

// Loss is what a step minimises.
type Loss struct {
	Norm string `yaml:"norm" enum:"token|verl" default:"token" doc:"token: mean over all loss tokens of the step. verl: mean over micro-batches of their own token means, as its fsdp_sft_trainer computes it."`
}

// Optim is AdamW with decoupled weight decay and a learning rate by step.
type Optim struct {
	LR          float64   `yaml:"lr" min:"0" max:"10" default:"1e-5" doc:"Peak learning rate."`
	Betas       []float64 `yaml:"betas" min:"0" below:"1" len:"2" default:"[0.9, 0.95]" doc:"Decay of the first and second moment."`
	Eps         float64   `yaml:"eps" min:"1e-30" max:"1" default:"1e-8" doc:"Added to the root of the second moment."`
	WeightDecay float64   `yaml:"weight_decay" min:"0" max:"10" default:"0.01" doc:"Decay of all weights, decoupled."`
	Clip        float64   `yaml:"clip" min:"0" default:"1.0" doc:"Largest norm of the whole gradient; 0 does not clip."`
	Schedule    string    `yaml:"schedule" enum:"cosine|constant" default:"cosine" doc:"After the warm-up: half a cosine down to 0 at the last step, or constant."`
	Warmup      float64   `yaml:"warmup" min:"0" max:"1" default:"0.1" doc:"Share of the steps over which the rate rises; the first of them has rate 0."`
}

// Train is the length of a run and what it leaves.
type Train struct {
	Out           string `yaml:"out" default:"checkpoint/sft" doc:"Run folder." resume:"free"`
	Epochs        int    `yaml:"epochs" min:"1" max:"1000000" default:"1" doc:"Passes over the data; a remainder smaller than a batch is left out."`
	Steps         int    `yaml:"steps" min:"0" max:"1000000000" default:"0" doc:"Steps in all, instead of epochs; 0 goes by epochs."`
	SaveEvery     int    `yaml:"save_every" min:"0" max:"1000000000" default:"0" doc:"Steps between checkpoints; 0 saves the last step alone." resume:"free"`
	ValidateEvery int    `yaml:"validate_every" min:"0" max:"1000000000" default:"0" doc:"Steps between validations; 0 validates at the last step alone."`
	Patience      int    `yaml:"patience" min:"0" max:"1000000" default:"0" doc:"Stop after that many validations in a row without a new best; 0 never stops early."`
	Keep          int    `yaml:"keep" min:"0" max:"1000000" default:"0" doc:"Newest checkpoints to keep, beside the best; 0 keeps all." resume:"free"`
}

// Verl is what only verl on Ray needs to know.
type Verl struct {
	Project          string `yaml:"project" default:"cr" doc:"trainer.project_name." resume:"free"`
	Experiment       string `yaml:"experiment" default:"sft" doc:"trainer.experiment_name." resume:"free"`
	Nodes            int    `yaml:"nodes" min:"1" max:"65536" default:"1" doc:"Machines."`
	Devices          int    `yaml:"devices" min:"1" max:"1024" default:"8" doc:"Accelerators of a machine."`
	SequenceParallel int    `yaml:"sequence_parallel" min:"1" max:"1024" default:"1" doc:"Devices that share one sequence."`
	Strategy         string `yaml:"strategy" enum:"fsdp|fsdp2" default:"fsdp2" doc:"How weights are spread over devices." resume:"free"`
	Device           string `yaml:"device" enum:"npu|cuda" default:"npu" doc:"Kind of accelerator." resume:"free"`
}

// Ranks is the number of data-parallel ranks that verl would use.
func (v Verl) Ranks() int { return max(1, v.Nodes*v.Devices/v.SequenceParallel) }

// Check finds what no single key can be blamed for.
func (r SFT) Check() error {
	switch {
	case r.Model.Path == "" && r.Model.New == nil:
		return fmt.Errorf("model.path is empty: name a model, or describe a new one in model.new")
	case r.Model.Path != "" && r.Model.New != nil:
		return fmt.Errorf("model.path and model.new are both set: keep one")
	case r.Model.New != nil && r.Model.LoRA.Rank > 0:
		return fmt.Errorf("model.lora.rank %d: adapters need a trained model, not model.new", r.Model.LoRA.Rank)
	case r.Train.Out == "":
		return fmt.Errorf("train.out is empty: name the run folder")
	case r.Data.Train == "":
		return fmt.Errorf("data.train is empty: name the conversations")
	case r.Train.Patience > 0 && (r.Train.ValidateEvery == 0 || r.Data.Validation == ""):
		return fmt.Errorf("train.patience %d needs data.validation and train.validate_every", r.Train.Patience)
	}
	if r.Model.New != nil {
		return r.Model.New.check()
	}
	return r.Model.LoRA.check()
}

func (l LoRA) check() error {
	if l.Rank > 0 && len(l.Targets) == 0 {
		return fmt.Errorf("model.lora.targets is empty: name the matrices that get an adapter, or set model.lora.rank=0")
	}
	for i, target := range l.Targets {
		if slices.Contains(l.Targets[:i], target) {
			return fmt.Errorf("model.lora.targets names %s twice", target)
		}
	}
	return nil
}

func (n NewModel) check() error {
	switch {
	case n.Tokenizer == "":
		return fmt.Errorf("model.new.tokenizer is empty: name a folder with tokenizer.json")
	case n.Heads%n.KVHeads != 0:
		return fmt.Errorf("model.new.kv_heads %d does not divide model.new.heads %d", n.KVHeads, n.Heads)
	case n.HeadDim%2 != 0:
		return fmt.Errorf("model.new.head_dim %d is odd: rotary embedding turns pairs", n.HeadDim)
	}
	return nil
}
