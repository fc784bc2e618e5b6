package service

import (
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// leastConnections is served however few descriptors there are.
const leastConnections = 16

// connectionLimit is half of the descriptors that this process may have: the rest
// is for the programs' pipes, which idle connections must not use up.
func connectionLimit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return leastConnections
	}
	return int(max(leastConnections, min(limit.Cur/2, 1<<20)))
}

// bounded is a listener that accepts a connection only when there is a place for
// it; others wait in the kernel's queue.
type bounded struct {
	net.Listener
	places chan struct{} // held by open connections
	closed chan struct{}
	once   sync.Once
}

func newBounded(ln net.Listener, limit int) *bounded {
	return &bounded{Listener: ln, places: make(chan struct{}, limit), closed: make(chan struct{})}
}

// Accept waits for a place and then for a connection.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &placed{Conn: c, places: b.places}, nil
}

// Close also ends an Accept that waits for a place.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// placed is a connection that gives its place back.
type placed struct {
	net.Conn
	places chan struct{}
	once   sync.Once
}

// Close closes the connection.
func (p *placed) Close() error {
	err := p.Conn.Close()
	p.once.Do(func() { <-p.places })
	return err
}
