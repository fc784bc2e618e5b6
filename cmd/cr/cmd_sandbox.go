package main

// sandboxCmd groups the sandbox's commands.
type sandboxCmd struct {
	Run sandboxRunCmd `cmd:"" help:"Run one program and print its result as JSON."`
}
