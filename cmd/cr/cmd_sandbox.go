package main

// sandboxCmd groups the sandbox's commands.
type sandboxCmd struct {
	Run   sandboxRunCmd   `cmd:"" help:"Run one program and print its result as JSON."`
	Check sandboxCheckCmd `cmd:"" help:"Attack the sandbox of this host and print which layers hold."`
	Serve sandboxServeCmd `cmd:"" help:"Serve the sandbox over HTTP, as SandboxFusion and ScaleBox do."`
}
