package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/coderl/cr/datasets/hub/serve"
)

type hubServeCmd struct {
	Dir string `arg:"" type:"existingdir" help:"DIR/ORG/NAME are models, DIR/datasets/ORG/NAME datasets."`

	Host string `default:"127.0.0.1" help:"Address to listen on."`
	Port uint16 `default:"8090" help:"Port to listen on; 0 takes a free one."`
}

// Help is shown below the flags.
func (hubServeCmd) Help() string {
	return `Example:
  cr hub serve /srv/models --host 0.0.0.0 &
  HF_ENDPOINT=http://this-host:8090 cr download Qwen/Qwen3-1.7B

cr, huggingface_hub, transformers and datasets read from it. Every folder is one
commit on branch main; what changes in it is a new commit. Anybody who reaches the
port may read.`
}

// drainTime is how long requests may go on after an interruption.
const drainTime = 5 * time.Second

// Run serves until it is interrupted.
func (h *hubServeCmd) Run(ctx context.Context, c *console) error {
	server := serve.New(h.Dir, serve.Options{Log: c.log})
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", net.JoinHostPort(h.Host, strconv.Itoa(int(h.Port))))
	if err != nil {
		return fmt.Errorf("hub serve: %w (choose another address with --host and --port)", err)
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	if err := h.announce(c, listener.Addr()); err != nil {
		return errors.Join(err, web.Close(), ignoreClosed(<-failed))
	}
	err = server.Warm(ctx, func(r serve.Repo) {
		c.note("%s %s: %d files, %s, commit %.12s", r.Kind, r.Name, r.Files, humanBytes(r.Bytes), r.Commit)
	})
	if err != nil && ctx.Err() == nil {
		return errors.Join(fmt.Errorf("hub serve: %w", err), web.Close(), ignoreClosed(<-failed))
	}
	select {
	case err := <-failed:
		return fmt.Errorf("hub serve: %w", err)
	case <-ctx.Done():
	}
	// Requests get a moment to end; the context that ended cannot bound it.
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := web.Shutdown(drain); err != nil {
		return errors.Join(web.Close(), ignoreClosed(<-failed))
	}
	return ignoreClosed(<-failed)
}

// announce prints where the hub listens, once it does.
func (h *hubServeCmd) announce(c *console, at net.Addr) error {
	url := "http://" + at.String()
	return c.result(map[string]any{"url": url, "dir": h.Dir}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "serving %s at %s\n", h.Dir, url)
		return err
	})
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
