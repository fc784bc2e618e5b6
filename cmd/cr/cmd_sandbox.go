package main

// sandboxCmd groups the sandbox's commands.
type sandboxCmd struct {
	Run   sandboxRunCmd   `cmd:"" help:"Run one program and print its result as JSON."`
	Serve sandboxServeCmd `cmd:"" help:"Serve the sandbox over HTTP, as SandboxFusion and ScaleBox do."`
}
