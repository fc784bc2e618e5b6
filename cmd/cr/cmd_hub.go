package main

// hubCmd groups the commands of a hub of one's own.
type hubCmd struct {
	Serve hubServeCmd `cmd:"" help:"Serve folders by the hub's protocol."`
}
