package build

import "container/list"

// recent holds the builds used last, up to a number of bytes.
type recent struct {
	limit, size int64
	order       *list.List // of held, the latest first
	at          map[string]*list.Element
}

type held struct {
	key   string
	build *Build
}

func newRecent(limit int64) recent {
	return recent{limit: limit, order: list.New(), at: map[string]*list.Element{}}
}

func (r *recent) get(key string) *Build {
	e, ok := r.at[key]
	if !ok {
		return nil
	}
	r.order.MoveToFront(e)
	return e.Value.(held).build
}

func (r *recent) put(key string, b *Build) {
	r.at[key] = r.order.PushFront(held{key, b})
	r.size += b.size()
	for r.size > r.limit {
		last := r.order.Remove(r.order.Back()).(held)
		delete(r.at, last.key)
		r.size -= last.build.size()
	}
}
