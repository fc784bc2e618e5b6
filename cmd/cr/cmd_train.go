package main

type trainCmd struct {
	SFT trainSFTCmd `cmd:"" name:"sft" help:"Fine-tune a model on conversations."`
}
