package service

import (
	"errors"
	"net"
	"testing"
)

// TestConnectionsAreBounded accepts no more connections than there are places,
// and the next one once a place is free; closing ends an Accept that waits.
func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := newBounded(inner, 2)
	accepted := make(chan net.Conn, 3)
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	for range 3 {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first := <-accepted
	second := <-accepted
	select {
	case <-accepted:
		t.Fatal("a third connection was accepted")
	default:
	}
	if err := errors.Join(first.Close(), first.Close()); err == nil {
		t.Error("closing twice gave no error")
	}
	third := <-accepted // in the place of the first
	if len(ln.places) != 2 {
		t.Errorf("%d places taken by two connections", len(ln.places))
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener: %v", err)
	}
	if err := errors.Join(second.Close(), third.Close()); err != nil {
		t.Error(err)
	}
}
