package runtime

import (
	"container/list"

	"github.com/coderl/cr/runtime/tensor"
)

// pageKey names the content of a full cache page: its tokens, and the serial
// of the page before it. As a map key it is compared whole, so equal keys mean
// equal prefixes, not just equal hashes.
type pageKey struct {
	parent uint64
	ids    [tensor.PageSize]int32
}

// page is the bookkeeping of one page of the cache.
type page struct {
	refs   int           // sequences that hold it
	serial uint64        // of this content, never reused; 0: not in the index
	key    pageKey       // valid with a serial
	idle   *list.Element // its place among the idle pages while refs is 0
}

// pool hands out cache pages. A page that nobody holds keeps its content, and
// its place in the index, until it is handed out again: the longest idle first.
type pool struct {
	pages  []page
	idle   *list.List // of page numbers; the front goes first
	index  map[pageKey]int32
	serial uint64
}

func newPool(pages int) *pool {
	p := &pool{pages: make([]page, pages), idle: list.New(), index: map[pageKey]int32{}}
	for i := range p.pages {
		p.pages[i].idle = p.idle.PushBack(int32(i))
	}
	return p
}

// available is how many pages nobody holds.
func (p *pool) available() int { return p.idle.Len() }

// take hands out a page without content.
func (p *pool) take() (int32, bool) {
	front := p.idle.Front()
	if front == nil {
		return 0, false
	}
	n := p.idle.Remove(front).(int32)
	if p.pages[n].serial != 0 {
		delete(p.index, p.pages[n].key)
	}
	p.pages[n] = page{refs: 1}
	return n, true
}

// find hands out the page with the content of key, if it is still there.
func (p *pool) find(key pageKey) (int32, bool) {
	n, ok := p.index[key]
	if ok {
		p.hold(n)
	}
	return n, ok
}

func (p *pool) hold(n int32) {
	pg := &p.pages[n]
	if pg.refs == 0 {
		p.idle.Remove(pg.idle)
		pg.idle = nil
	}
	pg.refs++
}

// release gives one hold back.
func (p *pool) release(n int32) {
	pg := &p.pages[n]
	if pg.refs--; pg.refs > 0 {
		return
	}
	if pg.serial == 0 {
		pg.idle = p.idle.PushFront(n)
	} else {
		pg.idle = p.idle.PushBack(n)
	}
}

// register enters a page just filled under its key. Where another page has the
// same content already, n is given back and the other one taken in its place.
func (p *pool) register(n int32, key pageKey) int32 {
	if other, ok := p.index[key]; ok {
		if other != n {
			p.hold(other)
			p.release(n)
		}
		return other
	}
	p.serial++
	p.pages[n].serial, p.pages[n].key = p.serial, key
	p.index[key] = n
	return n
}
