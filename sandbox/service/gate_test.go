package service

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// TestClientsTakeTurns fills the only slot, lets one client queue ten runs before
// another queues two, and looks at who runs when.
func TestClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		if err := g.acquire(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var running sync.WaitGroup
		queue := func(client string, n int) {
			for range n {
				running.Go(func() {
					if err := g.acquire(t.Context(), client); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					order = append(order, client)
					mu.Unlock()
					g.release()
				})
				synctest.Wait()
			}
		}
		queue("a", 10)
		queue("b", 2)
		if got := g.load(); got != 12 {
			t.Errorf("%d wait, want 12", got)
		}
		g.release()
		running.Wait()
		if got := strings.Join(order, ""); got != "ababaaaaaaaa" {
			t.Errorf("ran %s", got)
		}
		if g.free != 1 || g.waiting != 0 || len(g.clients) != 0 || len(g.turns) != 0 {
			t.Errorf("left behind: %+v", g)
		}
	})
}

func TestWaitersMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		if err := g.acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- g.acquire(ctx, "b") }()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		g.release()
		if err := g.acquire(t.Context(), "c"); err != nil {
			t.Error(err)
		}
		g.release()
		if g.free != 1 || g.load() != 0 {
			t.Errorf("left behind: %+v", g)
		}
	})
}

// TestSlotsAreNeverLost lets runs leave in the moment they are granted.
func TestSlotsAreNeverLost(t *testing.T) {
	g := newGate(2)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				go cancel()
			}
			defer cancel()
			if g.acquire(ctx, string(rune('a'+i%5))) == nil {
				g.release()
			}
		})
	}
	all.Wait()
	if g.free != 2 || g.load() != 0 {
		t.Errorf("%d slots free, %d waiting", g.free, g.load())
	}
}

func TestAdmission(t *testing.T) {
	a := newAdmission(4, 100, 50)
	var guests []*visit
	for i, tt := range []struct {
		client string
		size   int64
		want   refusal
	}{
		{"a", 10, admitted},
		{"a", 70, queueFull}, // three quarters of the bytes would be his
		{"a", 10, admitted},
		{"a", 10, admitted},
		{"a", 10, queueFull}, // three quarters are his
		{"b", 80, queueFull}, // 70 bytes are left
		{"b", 60, admitted},
		{"c", 0, queueFull},
	} {
		guest, got := a.enter(tt.client, tt.size)
		if got != tt.want {
			t.Errorf("%d: %s got %d, want %d", i, tt.client, got, tt.want)
		}
		if got == admitted {
			guests = append(guests, guest)
		}
	}
	if guests[3].grow(20) || guests[0].grow(50) || !guests[0].grow(10) {
		t.Error("a request grew beyond what is left, or could not grow into it")
	}
	guests[0].leave()
	if _, got := a.enter("c", 20); got != admitted {
		t.Errorf("after one left: %d", got)
	}
	a.drain()
	if _, got := a.enter("d", 0); got != drainingNow {
		t.Errorf("while draining: %d", got)
	}
}
