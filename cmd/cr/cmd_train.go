package main

type trainCmd struct {
	SFT trainSFTCmd `cmd:"" name:"sft" help:"Fine-tune a model on conversations."`
	RL  trainRLCmd  `cmd:"" name:"rl" help:"Reinforce a model on problems that a sandbox judges."`
}
