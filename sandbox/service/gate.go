package service

import (
	"context"
	"sync"
)

// gate gives out the sandbox's slots, one a program run, in turn among the
// clients that wait: whoever sends a thousand requests waits behind his own.
type gate struct {
	mu      sync.Mutex
	free    int
	waiting int
	clients map[string]*queue
	turns   []*queue // the clients that wait; the first is next
}

// queue is one client's waiting runs, the oldest first.
type queue struct {
	client  string
	waiters []*waiter
}

type waiter struct {
	granted chan struct{} // closed with the slot handed over
}

func newGate(slots int) *gate {
	return &gate{free: slots, clients: map[string]*queue{}}
}

// acquire waits for a slot; every nil must be followed by a release.
func (g *gate) acquire(ctx context.Context, client string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.free > 0 && g.waiting == 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	w := g.enqueue(client)
	g.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		if !g.leave(client, w) {
			g.release() // granted in the same moment
		}
		return ctx.Err()
	}
}

func (g *gate) enqueue(client string) *waiter {
	w := &waiter{granted: make(chan struct{})}
	q := g.clients[client]
	if q == nil {
		q = &queue{client: client}
		g.clients[client] = q
		g.turns = append(g.turns, q)
	}
	q.waiters = append(q.waiters, w)
	g.waiting++
	return w
}

// leave takes a waiter out; false means that it was granted its slot.
func (g *gate) leave(client string, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.clients[client]
	if q == nil {
		return false
	}
	for i, other := range q.waiters {
		if other == w {
			q.waiters = append(q.waiters[:i], q.waiters[i+1:]...)
			g.waiting--
			g.drop(q)
			return true
		}
	}
	return false
}

// drop forgets a client that waits for nothing.
func (g *gate) drop(q *queue) {
	if len(q.waiters) > 0 {
		return
	}
	delete(g.clients, q.client)
	for i, other := range g.turns {
		if other == q {
			g.turns = append(g.turns[:i], g.turns[i+1:]...)
			return
		}
	}
}

// release hands the slot to the client whose turn it is.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == 0 {
		g.free++
		return
	}
	q := g.turns[0]
	g.turns = append(g.turns[1:], q)
	w := q.waiters[0]
	q.waiters = q.waiters[1:]
	g.waiting--
	g.drop(q)
	close(w.granted)
}

// load says how many runs wait.
func (g *gate) load() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}
