package service

import "sync"

// admission bounds the requests in the house, and the memory of their bodies and
// of what programs wrote for their answers.
type admission struct {
	mu       sync.Mutex
	limit    int
	bytes    int64 // still free
	share    int64 // of the bytes, for one client
	pending  int
	clients  map[string]holding
	draining bool
}

// holding is what one client has in the house.
type holding struct {
	requests int
	bytes    int64
}

// Refusals of admission.
type refusal int

const (
	admitted refusal = iota
	queueFull
	drainingNow
)

// newAdmission bounds requests and their bytes; a body may have up to largest.
func newAdmission(limit int, bytes, largest int64) *admission {
	return &admission{limit: limit, bytes: bytes, share: max(largest, bytes/4*3), clients: map[string]holding{}}
}

// visit is a request in the house.
type visit struct {
	house  *admission
	client string
	size   int64
}

// enter admits a request of size bytes; leave must follow. One client may fill
// three quarters of the house, in requests and in bytes, so that there is always
// a place for another.
func (a *admission) enter(client string, size int64) (*visit, refusal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	held := a.clients[client]
	switch {
	case a.draining:
		return nil, drainingNow
	case a.pending >= a.limit, held.requests >= max(1, a.limit*3/4), size > a.bytes, size > a.share-held.bytes:
		return nil, queueFull
	}
	a.pending++
	a.bytes -= size
	a.clients[client] = holding{held.requests + 1, held.bytes + size}
	return &visit{house: a, client: client, size: size}, admitted
}

// grow takes more bytes for a request, false if there are not so many for it.
// They go back when it leaves, which is when its client has read the answer.
func (v *visit) grow(n int64) bool {
	a := v.house
	a.mu.Lock()
	defer a.mu.Unlock()
	held := a.clients[v.client]
	if n > a.bytes || n > a.share-held.bytes {
		return false
	}
	a.bytes -= n
	v.size += n
	held.bytes += n
	a.clients[v.client] = held
	return true
}

func (v *visit) leave() {
	a := v.house
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending--
	a.bytes += v.size
	held := a.clients[v.client]
	if held.requests--; held.requests == 0 {
		delete(a.clients, v.client)
		return
	}
	held.bytes -= v.size
	a.clients[v.client] = held
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
