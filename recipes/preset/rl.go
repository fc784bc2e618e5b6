package preset

import "fmt"

// RL is a recipe of reinforcement learning by GRPO with the tool loop. Every
// default is what verl's trainer takes when nothing is set, but for the sizes.
type RL struct {
	Kind     string   `yaml:"kind" enum:"rl" doc:"What the recipe trains by."`
	Model    Model    `yaml:"model" doc:"The policy to begin from."`
	Data     RLData   `yaml:"data" doc:"The problems it practises on."`
	Rollout  Rollout  `yaml:"rollout" doc:"How answers are sampled."`
	Tools    Tools    `yaml:"tools" doc:"The tool loop of a sample."`
	Reward   Reward   `yaml:"reward" doc:"What an answer is worth."`
	GRPO     GRPO     `yaml:"grpo" doc:"What a step maximises."`
	Batch    RLBatch  `yaml:"batch" doc:"How a step's samples are cut into updates."`
	Optim    RLOptim  `yaml:"optim" doc:"AdamW and its learning rate."`
	Validate Validate `yaml:"validate" doc:"The evaluation during the run."`
	Spec     Spec     `yaml:"spec" doc:"Speculative decoding of the samples."`
	Train    RLTrain  `yaml:"train" doc:"How long, and what is kept."`
	Seed     uint64   `yaml:"seed" default:"1" doc:"Seed of the data order and of the samples."`
	Verl     RLVerl   `yaml:"verl" doc:"Read by --engine verl alone."`
}

// RLData says which problems are practised, in the parquet of cr build-dataset.
type RLData struct {
	Train      string `yaml:"train" doc:"Problems: a parquet file with prompt, data_source and reward_model, or a set shipped inside cr."`
	Validation string `yaml:"validation" doc:"The same for the evaluation during the run; empty for none."`
	MaxPrompt  int    `yaml:"max_prompt" min:"1" max:"1048576" default:"2048" doc:"Longest prompt in tokens, tools included."`
	OverLong   string `yaml:"over_long" enum:"error|drop" default:"drop" doc:"What becomes of a longer one; dropped ones are counted."`
	Shuffle    bool   `yaml:"shuffle" default:"true" doc:"A new order each epoch, by the seed; false keeps the file's."`
}

// Rollout is how a step's answers are sampled.
type Rollout struct {
	Prompts     int     `yaml:"prompts" min:"1" max:"1048576" default:"128" doc:"Problems in a step."`
	Group       int     `yaml:"group" min:"1" max:"65536" default:"8" doc:"Answers sampled of each problem."`
	Temperature float64 `yaml:"temperature" min:"0.001" max:"10" default:"1.0" doc:"Sampling temperature; the loss divides logits by it too."`
	TopP        float64 `yaml:"top_p" above:"0" max:"1" default:"1.0" doc:"Smallest set of tokens with that probability."`
	TopK        int     `yaml:"top_k" min:"0" max:"1048576" default:"0" doc:"Most likely tokens to draw from; 0 is all."`
	MaxResponse int     `yaml:"max_response" min:"1" max:"1048576" default:"16384" doc:"Tokens of an answer over all its turns, tool replies included."`
}

// Tools is the tool loop that eval and training share.
type Tools struct {
	Enable   bool   `yaml:"enable" default:"true" doc:"Offer the code interpreter."`
	MaxTurns int    `yaml:"max_turns" min:"1" max:"1024" default:"16" doc:"Most turns of the model in an answer."`
	Parallel int    `yaml:"parallel" min:"1" max:"64" default:"1" doc:"Calls of one turn that are executed; the rest are ignored."`
	Output   int    `yaml:"output" min:"2" max:"16777216" default:"4096" doc:"Characters of a tool's reply that the model sees, head and tail kept."`
	Timeout  int    `yaml:"timeout" min:"1" max:"3600" default:"30" doc:"Seconds a program may run for a tool call."`
	Format   string `yaml:"format" enum:"hermes" default:"hermes" doc:"How the model writes a call."`
}

// Reward is what an answer is worth.
type Reward struct {
	Score     string  `yaml:"score" enum:"share|strict" default:"share" doc:"share: the share of tests passed. strict: 1 when all pass, else 0."`
	Extract   string  `yaml:"extract" enum:"last|lcb|verl" default:"verl" doc:"Which code block of an answer is judged, as for cr eval."`
	Bonus     float64 `yaml:"bonus" min:"0" max:"1" default:"0" doc:"Added for each tool call that was executed, right or wrong."`
	MaxCalls  int     `yaml:"max_calls" min:"0" max:"1024" default:"4" doc:"Calls that the bonus counts at most."`
	Format    float64 `yaml:"format" min:"0" max:"1" default:"0" doc:"Added for an answer that holds a program at all."`
	Own       string  `yaml:"own" doc:"A reward of one's own instead of the tests: an executable, or an http(s) URL."`
	Timeout   int     `yaml:"timeout" min:"1" max:"3600" default:"30" doc:"Seconds a program may run on one test, where its problem sets none; or a reward of one's own."`
	Truncated string  `yaml:"truncated" enum:"keep|drop|mask|zero" default:"keep" doc:"What becomes of an answer that a budget cut. keep: it is worth what it is worth. drop: out of the loss and of its group's mean. mask: out of the loss alone. zero: worth 0."`
	Wait      int     `yaml:"wait" min:"0" max:"1000000" default:"3600" doc:"Seconds that a judge which fails is tried again, before reward.infra decides." resume:"free"`
	Infra     string  `yaml:"infra" enum:"drop|stop|zero" default:"drop" doc:"What becomes of an answer that could not be judged, after the retries. drop: out of the loss. stop: the run ends. zero: scored 0, and counted."`
	Sandbox   string  `yaml:"sandbox" default:"http://localhost:8080" doc:"Where the judge listens, for --engine verl: reachable from every machine." resume:"free"`
}

// GRPO is the objective (Shao et al., arXiv 2402.03300) with the variants that
// verl has: a wider upper clip, a dual clip, and two ways to aggregate.
type GRPO struct {
	NormByStd bool    `yaml:"norm_by_std" default:"true" doc:"Divide a group's advantages by its standard deviation; false as in Dr.GRPO."`
	ClipLow   float64 `yaml:"clip_low" min:"0" below:"1" default:"0.2" doc:"The probability ratio is clipped from below at 1 - clip_low."`
	ClipHigh  float64 `yaml:"clip_high" min:"0" max:"10" default:"0.2" doc:"And from above at 1 + clip_high."`
	DualClip  float64 `yaml:"dual_clip" above:"1" default:"3.0" doc:"Bound of the loss of a negative advantage, in units of it."`
	KLCoef    float64 `yaml:"kl_coef" min:"0" max:"100" default:"0.001" doc:"Weight of the divergence from the reference model; 0 needs none."`
	KLType    string  `yaml:"kl_type" enum:"kl|abs|mse|low_var_kl|kl+|abs+|low_var_kl+" default:"low_var_kl" doc:"Estimator of the divergence; with + its gradient is that of mse, which is unbiased."`
	Aggregate string  `yaml:"aggregate" enum:"token-mean|seq-mean-token-sum|seq-mean-token-mean|seq-mean-token-sum-norm" default:"token-mean" doc:"How token losses become one number; seq-mean-token-sum-norm is Dr.GRPO's."`
	Entropy   float64 `yaml:"entropy" min:"0" max:"10" default:"0" doc:"Weight of the entropy, which is maximised."`
	Uniform   string  `yaml:"uniform" enum:"keep|drop|resample" default:"keep" doc:"What becomes of a group whose answers are all worth the same: it stays, leaves the loss, or other problems take its place (DAPO)."`
}

// RLBatch is how a step's samples are cut into optimiser updates.
type RLBatch struct {
	Mini   int `yaml:"mini" min:"1" max:"1048576" default:"32" doc:"Problems of one optimiser update; divides rollout.prompts."`
	Epochs int `yaml:"epochs" min:"1" max:"1024" default:"1" doc:"Passes over a step's samples."`
	Tokens int `yaml:"tokens" min:"2" max:"16777216" default:"18432" doc:"Most tokens that are computed at once; a longer sample goes alone."`
}

// RLOptim is AdamW; the rate is constant after the warm-up unless said otherwise.
type RLOptim struct {
	LR          float64   `yaml:"lr" min:"0" max:"10" default:"1e-6" doc:"Peak learning rate."`
	Betas       []float64 `yaml:"betas" min:"0" below:"1" len:"2" default:"[0.9, 0.999]" doc:"Decay of the first and second moment."`
	Eps         float64   `yaml:"eps" min:"1e-30" max:"1" default:"1e-8" doc:"Added to the root of the second moment."`
	WeightDecay float64   `yaml:"weight_decay" min:"0" max:"10" default:"0.01" doc:"Decay of all weights, decoupled."`
	Clip        float64   `yaml:"clip" min:"0" default:"1.0" doc:"Largest norm of the whole gradient; 0 does not clip."`
	Schedule    string    `yaml:"schedule" enum:"cosine|constant" default:"constant" doc:"After the warm-up: half a cosine down to 0 at the last step, or constant."`
	Warmup      float64   `yaml:"warmup" min:"0" max:"1" default:"0" doc:"Share of the steps over which the rate rises from 0."`
}

// Validate is the evaluation during a run, as cr eval makes it.
type Validate struct {
	Every       int     `yaml:"every" min:"0" max:"1000000000" default:"0" doc:"Steps between evaluations; 0 makes none."`
	Before      bool    `yaml:"before" default:"true" doc:"Evaluate the model before the first step too."`
	N           int     `yaml:"n" min:"1" max:"65536" default:"1" doc:"Answers sampled of each problem."`
	Temperature float64 `yaml:"temperature" min:"0" max:"10" default:"0" doc:"Sampling temperature; 0 is greedy."`
	TopP        float64 `yaml:"top_p" above:"0" max:"1" default:"1.0" doc:"Smallest set of tokens with that probability."`
	TopK        int     `yaml:"top_k" min:"0" max:"1048576" default:"0" doc:"Most likely tokens to draw from; 0 is all."`
}

// Spec is speculative decoding: a draft proposes tokens, the policy checks them.
type Spec struct {
	Method string `yaml:"method" enum:"none|suffix|eagle3" default:"none" doc:"Who proposes: nobody, what was generated before, or a trained draft model."`
	Tokens int    `yaml:"tokens" min:"1" max:"64" default:"2" doc:"Tokens proposed at a time."`
	Draft  string `yaml:"draft" doc:"The draft model of eagle3: a folder, or hub:ORG/NAME."`
}

// RLTrain is the length of a run and what it leaves.
type RLTrain struct {
	Out       string `yaml:"out" default:"checkpoint/rl" doc:"Run folder." resume:"free"`
	Epochs    int    `yaml:"epochs" min:"1" max:"1000000" default:"1" doc:"Passes over the problems; a remainder smaller than a step is left out."`
	Steps     int    `yaml:"steps" min:"0" max:"1000000000" default:"0" doc:"Steps in all, instead of epochs; 0 goes by epochs."`
	SaveEvery int    `yaml:"save_every" min:"0" max:"1000000000" default:"0" doc:"Steps between checkpoints; 0 saves the last step alone." resume:"free"`
	Keep      int    `yaml:"keep" min:"0" max:"1000000" default:"0" doc:"Newest checkpoints to keep, beside the best; 0 keeps all." resume:"free"`
}

// RLVerl is what only verl on Ray needs to know.
type RLVerl struct {
	Project          string   `yaml:"project" default:"cr" doc:"trainer.project_name." resume:"free"`
	Experiment       string   `yaml:"experiment" default:"rl" doc:"trainer.experiment_name." resume:"free"`
	Nodes            int      `yaml:"nodes" min:"1" max:"65536" default:"1" doc:"Machines." resume:"free"`
	Devices          int      `yaml:"devices" min:"1" max:"1024" default:"8" doc:"Accelerators of a machine." resume:"free"`
	Device           string   `yaml:"device" enum:"npu|cuda" default:"npu" doc:"Kind of accelerator." resume:"free"`
	SequenceParallel int      `yaml:"sequence_parallel" min:"1" max:"1024" default:"1" doc:"Devices that share one sequence in training." resume:"free"`
	TensorParallel   int      `yaml:"tensor_parallel" min:"1" max:"1024" default:"1" doc:"Devices that share one copy of the model in sampling." resume:"free"`
	Strategy         string   `yaml:"strategy" enum:"fsdp|fsdp2" default:"fsdp" doc:"How weights are spread over devices." resume:"free"`
	Offload          bool     `yaml:"offload" default:"true" doc:"Weights and optimiser state wait in host memory while samples are made." resume:"free"`
	Memory           float64  `yaml:"memory" above:"0" below:"1" default:"0.7" doc:"Share of a device's memory that the sampler takes." resume:"free"`
	Workers          int      `yaml:"workers" min:"1" max:"4096" default:"8" doc:"Processes that run tool loops, and as many that judge." resume:"free"`
	Logger           []string `yaml:"logger" enum:"console|tensorboard|wandb|mlflow|swanlab" default:"[console, tensorboard]" doc:"Where metrics go." resume:"free"`
}

// Check finds what no single key can be blamed for.
func (r RL) Check() error {
	switch {
	case r.Model.New != nil:
		return fmt.Errorf("model.new: reinforcement begins from a trained model; name it in model.path")
	case r.Model.Path == "":
		return fmt.Errorf("model.path is empty: name the model to begin from")
	case r.Train.Out == "":
		return fmt.Errorf("train.out is empty: name the run folder")
	case r.Data.Train == "":
		return fmt.Errorf("data.train is empty: name the problems")
	case r.Rollout.Prompts%r.Batch.Mini != 0:
		return fmt.Errorf("batch.mini %d does not divide rollout.prompts %d", r.Batch.Mini, r.Rollout.Prompts)
	case r.Spec.Method == "eagle3" && r.Spec.Draft == "":
		return fmt.Errorf("spec.draft is empty: eagle3 needs a draft model")
	case r.Validate.Every > 0 && r.Data.Validation == "":
		return fmt.Errorf("validate.every %d needs data.validation", r.Validate.Every)
	}
	return r.Model.LoRA.check()
}
