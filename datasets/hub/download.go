package hub

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
)

// Plan is what a download would do.
type Plan struct {
	Listing
	Target Target
	Items  []Item
	// Partly: a selection left files out.
	Partly bool
}

// Item is one chosen file.
type Item struct {
	File
	presence presence
}

// Fetch says whether bytes must come from the hub.
func (i Item) Fetch() bool { return i.presence == absent }

// Bytes is the total of the chosen files, and of those to be fetched.
func (p Plan) Bytes() (all, fetch int64) {
	for _, i := range p.Items {
		all = addSizes(all, max(i.Size, 0))
		if i.Fetch() {
			fetch = addSizes(fetch, max(i.Size, 0))
		}
	}
	return all, fetch
}

// Path is where an item's file appears.
func (p Plan) Path(i Item) string {
	return filepath.Join(p.Target.Dir(p.Listing), filepath.FromSlash(i.Path))
}

// Event is a step of a file's download.
type Event struct {
	Repo, Path string
	Size, Done int64 // Done may fall when a download starts again
	Finished   bool
}

// Result is a file in place.
type Result struct {
	Path    string // in the repository
	File    string // on this machine
	Size    int64
	SHA256  string
	Fetched bool
}

// Plan lists a repository and looks up what of it is there already. Where
// something must be fetched, one file is asked for by HEAD: a gated repository
// lists its files to all, yet gives them to few.
func (c *Client) Plan(ctx context.Context, r Repo, to Target, chosen Selection) (Plan, error) {
	l, err := c.List(ctx, r)
	if errors.Is(err, ErrOffline) {
		return c.planOffline(r, to, chosen)
	}
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Listing: l, Target: to}
	asked := false
	for _, f := range l.Files {
		if !chosen.Match(f.Path) {
			p.Partly = true
			continue
		}
		if f.Size < 0 {
			asked = true
			if f, err = c.complete(ctx, l, f); err != nil {
				return Plan{}, err
			}
		}
		item, err := p.look(f)
		if err != nil {
			return Plan{}, err
		}
		p.Items = append(p.Items, item)
		if item.Fetch() && !asked {
			asked = true
			if _, err := c.Head(ctx, r, l.Commit, f.Path); err != nil {
				return Plan{}, err
			}
		}
	}
	return p, nil
}

// complete asks for what a listing without sizes does not say.
func (c *Client) complete(ctx context.Context, l Listing, f File) (File, error) {
	m, err := c.Head(ctx, l.Repo, l.Commit, f.Path)
	if err != nil {
		return f, err
	}
	f.Size = m.Size
	switch {
	case m.Commit != l.Commit:
		return f, fmt.Errorf("%s: %w: %s of %s is %s, not %s", l.Repo.Name, ErrNotHub, headerCommit, f.Path, m.Commit, l.Commit)
	case hexSHA256.MatchString(m.ETag):
		f.SHA256 = m.ETag
	case hexSHA1.MatchString(m.ETag):
		f.OID = m.ETag
	default:
		return f, fmt.Errorf("%s: %w: the ETag of %s, %.80q, is no hash", l.Repo.Name, ErrNotHub, f.Path, m.ETag)
	}
	if err := f.check(); err != nil {
		return f, fmt.Errorf("%s: %w: %w", l.Repo.Name, ErrNotHub, err)
	}
	return f, nil
}

func (p Plan) look(f File) (Item, error) {
	there, err := p.Target.lookup(p.Listing, f)
	if err != nil {
		return Item{}, fmt.Errorf("%s: %s: %w", p.Repo.Name, f.Path, err)
	}
	return Item{f, there}, nil
}

// planOffline goes by the listing kept from an earlier download.
func (c *Client) planOffline(r Repo, to Target, chosen Selection) (Plan, error) {
	dir, sha, err := Snapshot(to.root(), r)
	if err != nil {
		return Plan{}, fmt.Errorf("%w, and %w", ErrOffline, err)
	}
	l, err := keptListing(to.treeFolder(Listing{Repo: r}), r, sha)
	if err != nil {
		return Plan{}, fmt.Errorf("%s: %w: %s has no list of its files, so whether it is whole cannot be told", r.Name, ErrOffline, dir)
	}
	p := Plan{Listing: l, Target: to}
	for _, f := range l.Files {
		if !chosen.Match(f.Path) {
			p.Partly = true
			continue
		}
		item, err := p.look(f)
		if err != nil {
			return Plan{}, err
		}
		if item.Fetch() {
			return Plan{}, fmt.Errorf("%s: %w, and %s is %w", r.Name, ErrOffline, f.Path, ErrNotCached)
		}
		p.Items = append(p.Items, item)
	}
	return p, nil
}

// CheckSpace compares what plans on one disk would still write with its free
// space.
func CheckSpace(plans ...Plan) error {
	need := map[string]int64{}
	for _, p := range plans {
		root := existing(p.Target.root())
		need[root] = addSizes(need[root], p.toWrite())
	}
	for root, bytes := range need {
		free, err := freeSpace(root)
		if err != nil {
			return fmt.Errorf("free space of %s: %w", root, err)
		}
		if bytes > free {
			return fmt.Errorf("%w on %s: %d bytes to write, %d free", ErrNoSpace, root, bytes, free)
		}
	}
	return nil
}

// addSizes adds sizes that a listing claims: what is too much stays too much.
func addSizes(a, b int64) int64 { return min(a, math.MaxInt64-b) + b }

// toWrite is the bytes to be fetched less those that earlier tries left.
func (p Plan) toWrite() int64 {
	n := int64(0)
	for _, i := range p.Items {
		if i.Fetch() {
			n = addSizes(n, max(i.Size-leftover(p.Target.tempDir(p.Listing, i.File), p.Target.stem(i.File)), 0))
		}
	}
	return n
}

// Run fetches what a plan lacks, several files at a time, and returns all items
// in the plan's order. Every file appears under its name whole and verified or
// not at all; what was received of the others is kept for the next run. events
// is called from several goroutines.
func (c *Client) Run(ctx context.Context, p Plan, events func(Event)) ([]Result, error) {
	if err := CheckSpace(p); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]Result, len(p.Items))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(c.options.Jobs, len(p.Items)) {
		workers.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					continue
				}
				var err error
				if results[i], err = c.item(ctx, p, p.Items[i], events); err != nil {
					cancel(fmt.Errorf("%s: %s: %w", p.Repo.Name, p.Items[i].Path, err))
				}
			}
		})
	}
	for i := range p.Items {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	p.sweep()
	if err := keepTree(p.Target.treeFolder(p.Listing), p.Listing); err != nil {
		return nil, fmt.Errorf("%s: keep the list of files: %w", p.Repo.Name, err)
	}
	if err := p.Target.finish(p.Listing); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Repo.Name, err)
	}
	return results, nil
}

// sweep removes what killed writers left of contents that are there now, whoever
// brought them.
func (p Plan) sweep() {
	folders := map[string]bool{} // with temporary files
	for _, i := range p.Items {
		dir := p.Target.tempDir(p.Listing, i.File)
		found, known := folders[dir]
		if !known {
			found = holdsPartials(dir)
			folders[dir] = found
		}
		if found {
			sweep(dir, p.Target.stem(i.File), false)
		}
	}
}

// item puts one file in place.
func (c *Client) item(ctx context.Context, p Plan, i Item, events func(Event)) (Result, error) {
	report := func(done int64, finished bool) {
		events(Event{Repo: p.Repo.Name, Path: i.Path, Size: i.Size, Done: done, Finished: finished})
	}
	result := Result{Path: i.Path, File: p.Path(i), Size: i.Size, SHA256: i.SHA256}
	if i.presence == present {
		report(i.Size, true)
		return result.withSHA256(ctx)
	}
	unlock, locked, err := c.lock(ctx, p.Target.lockPath(p.Listing, i.File))
	if err != nil {
		return result, err
	}
	defer unlock()
	// Another process may have brought it while this one waited.
	there, err := p.Target.lookup(p.Listing, i.File)
	if err != nil {
		return result, err
	}
	switch there {
	case linkable:
		err = p.Target.adopt(p.Listing, i.File)
	case absent:
		result.Fetched = true
		result.SHA256, err = c.fetch(ctx, p, i.File, locked, func(have int64) { report(have, false) })
	}
	if err != nil {
		return result, err
	}
	report(i.Size, true)
	return result.withSHA256(ctx)
}

// withSHA256 hashes a file that the hub lists by another hash.
func (r Result) withSHA256(ctx context.Context) (Result, error) {
	if r.SHA256 != "" {
		return r, nil
	}
	d, err := digestFile(ctx, r.File, noGit)
	r.SHA256 = d.sha256
	return r, err
}

// fetch brings one file's bytes and places them, and returns their SHA-256.
// Wrong bytes are fetched once more from the start: a resumed download may go on
// from a damaged beginning.
func (c *Client) fetch(ctx context.Context, p Plan, f File, locked bool, report func(int64)) (string, error) {
	dir, stem := p.Target.tempDir(p.Listing, f), p.Target.stem(f)
	into, err := openPartial(dir, stem, f.Size, c.options.ChunkSize, locked)
	if err != nil {
		return "", full(err)
	}
	t := &transfer{client: c, file: f, commit: p.Commit, url: c.resolve(p.Repo, p.Commit, f.Path), into: into, report: report}
	report(into.have())
	d, err := t.verified(ctx)
	if errors.Is(err, ErrChecksum) {
		return "", errors.Join(err, into.discard())
	}
	if err != nil {
		return "", errors.Join(full(err), into.keep(filepath.Join(dir, idleName(stem))))
	}
	if err := into.seal(); err != nil {
		return "", full(err)
	}
	if err := p.Target.place(p.Listing, f, into.path); err != nil {
		return "", err
	}
	sweep(dir, stem, locked)
	return d.sha256, nil
}

// verified fills the partial and checks it, twice at most.
func (t *transfer) verified(ctx context.Context) (digest, error) {
	var wrong error
	for range 2 {
		if err := t.fill(ctx); err != nil {
			return digest{}, err
		}
		d, err := t.into.digest(ctx, t.file)
		if err != nil {
			return digest{}, err
		}
		if wrong = d.check(t.file); wrong == nil {
			return d, nil
		}
		t.client.options.Log.Debug("hub: starting again", "file", t.file.Path, "why", wrong.Error())
		if err := t.into.restart(); err != nil {
			return digest{}, err
		}
	}
	return digest{}, wrong
}

// full says plainly what a full disk's errors say by number.
func full(err error) error {
	if diskFull(err) {
		return fmt.Errorf("%w: what was received is kept; free some and run again: %w", ErrNoSpace, err)
	}
	return err
}
