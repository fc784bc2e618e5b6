package service

import "sync"

// admission bounds the requests in the house, and the memory of their bodies.
type admission struct {
	mu       sync.Mutex
	limit    int
	bytes    int64 // still free for bodies
	pending  int
	clients  map[string]int
	draining bool
}

// Refusals of admission.
type refusal int

const (
	admitted refusal = iota
	queueFull
	drainingNow
)

func newAdmission(limit int, bytes int64) *admission {
	return &admission{limit: limit, bytes: bytes, clients: map[string]int{}}
}

// enter admits a request of size bytes; leave must follow. One client may fill
// three quarters of the house, so that there is always a place for another.
func (a *admission) enter(client string, size int64) refusal {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.draining:
		return drainingNow
	case a.pending >= a.limit, a.clients[client] >= max(1, a.limit*3/4), size > a.bytes:
		return queueFull
	}
	a.pending++
	a.bytes -= size
	a.clients[client]++
	return admitted
}

func (a *admission) leave(client string, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending--
	a.bytes += size
	if a.clients[client]--; a.clients[client] == 0 {
		delete(a.clients, client)
	}
}

// drain refuses everything from now on.
func (a *admission) drain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.draining = true
}

// state says how many requests are in the house, and whether it is closing.
func (a *admission) state() (pending int, draining bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending, a.draining
}
