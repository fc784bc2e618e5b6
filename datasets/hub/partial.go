package hub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// partial is a file on its way: the bytes in a temporary file of this writer
// alone, and beside it a small text of what is already there, so that whoever
// comes after a kill goes on from it. Nothing in either is believed in the end:
// the whole file is hashed before it gets its name.
type partial struct {
	path  string // ends in .incomplete
	file  *os.File
	marks *os.File
	size  int64

	mu     sync.Mutex
	chunks []chunk
	// validator is the serving host's own ETag, for If-Range; a CDN's differs
	// from the hub's.
	validator string
}

// chunk is a stretch of the file that one request fetches.
type chunk struct {
	start, length int64
	have          int64 // bytes from start that are written
	best          int64 // the most there ever were
	marked        int64 // of have, what the marks say
}

// markEvery is how many bytes of a chunk may be lost to a kill.
const markEvery = 4 << 20

// maxMarks bounds the text of marks that is read back.
const maxMarks = 4 << 20

const partialSuffix = ".incomplete"

func marksPath(path string) string { return strings.TrimSuffix(path, partialSuffix) + ".parts" }

// split cuts a file into chunks; an empty file is one empty chunk.
func split(size, chunkSize int64) []chunk {
	chunks := []chunk{{length: min(size, chunkSize)}}
	for at := chunkSize; at < size; at += chunkSize {
		chunks = append(chunks, chunk{start: at, length: min(size-at, chunkSize)})
	}
	return chunks
}

// newPartial creates the temporary file, which must not exist, or takes the one
// at path if adopted.
func newPartial(path string, size, chunkSize int64, adopted bool) (*partial, error) {
	flags := os.O_RDWR | os.O_CREATE
	if !adopted {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	p := &partial{path: path, file: file, size: size, chunks: split(size, chunkSize)}
	if adopted {
		err = p.recall()
	}
	if err == nil {
		err = p.beginMarks()
	}
	if err != nil {
		return nil, errors.Join(err, p.discard())
	}
	return p, nil
}

// recall takes over what an earlier writer left. Without marks the file is a
// prefix, as huggingface_hub leaves it. Whatever does not fit is dropped.
func (p *partial) recall() error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > p.size {
		return p.file.Truncate(0)
	}
	marks, err := os.Open(marksPath(p.path))
	if errors.Is(err, os.ErrNotExist) {
		p.takePrefix(info.Size())
		return nil
	}
	if err != nil {
		return err
	}
	defer marks.Close()
	p.readMarks(marks, info.Size())
	return nil
}

func (p *partial) takePrefix(n int64) {
	for i := range p.chunks {
		c := &p.chunks[i]
		c.have = min(max(n-c.start, 0), c.length)
		c.best = c.have
	}
}

// readMarks reads "CHUNKSIZE VALIDATOR" and then lines "CHUNK BYTES". Marks of
// another chunk size, or damaged ones, count for nothing.
func (p *partial) readMarks(r io.Reader, length int64) {
	lines := bufio.NewScanner(io.LimitReader(r, maxMarks))
	if !lines.Scan() {
		return
	}
	var chunkSize int64
	var validator string
	if n, err := fmt.Sscanf(lines.Text(), "%d %q", &chunkSize, &validator); n != 2 || err != nil || chunkSize <= 0 || p.size/chunkSize > maxFiles {
		return
	}
	chunks := split(p.size, chunkSize)
	for lines.Scan() {
		var index int
		var have int64
		if n, err := fmt.Sscanf(lines.Text(), "%d %d", &index, &have); n != 2 || err != nil || index < 0 || index >= len(chunks) {
			continue
		}
		c := &chunks[index]
		if have >= 0 && have <= c.length && c.start+have <= length {
			c.have, c.best = have, have
		}
	}
	p.chunks, p.validator = chunks, validator
}

// beginMarks writes the marks anew.
func (p *partial) beginMarks() error {
	if p.marks != nil {
		p.marks.Close()
	}
	var err error
	if p.marks, err = os.Create(marksPath(p.path)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.marks, "%d %q\n", p.chunks[0].length, p.validator); err != nil {
		return err
	}
	for i := range p.chunks {
		p.chunks[i].marked = 0
		if err := p.mark(i); err != nil {
			return err
		}
	}
	return nil
}

// mark notes how far a chunk is.
func (p *partial) mark(i int) error {
	c := &p.chunks[i]
	if c.have == c.marked {
		return nil
	}
	c.marked = c.have
	_, err := fmt.Fprintf(p.marks, "%d %d\n", i, c.have)
	return err
}

// write puts bytes behind what a chunk has, and says whether the chunk was
// never that far before.
func (p *partial) write(i int, b []byte) (advanced bool, err error) {
	p.mu.Lock()
	at := p.chunks[i].start + p.chunks[i].have
	p.mu.Unlock()
	if _, err := p.file.WriteAt(b, at); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.chunks[i]
	c.have += int64(len(b))
	if c.have > c.best {
		c.best, advanced = c.have, true
	}
	if c.have-c.marked >= markEvery || c.have == c.length {
		return advanced, p.mark(i)
	}
	return advanced, nil
}

// rewind forgets a chunk's bytes.
func (p *partial) rewind(i int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks[i].have = 0
	return p.mark(i)
}

// restart forgets everything; from now on the file is one chunk.
func (p *partial) restart() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := int64(0)
	if len(p.chunks) == 1 {
		best = p.chunks[0].best
	}
	p.chunks = []chunk{{length: p.size, best: best}}
	p.validator = ""
	return errors.Join(p.file.Truncate(0), p.beginMarks())
}

// state returns a chunk as it is now, and the validator.
func (p *partial) state(i int) (chunk, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chunks[i], p.validator
}

// serves notes the serving host's ETag; false if it is another than before.
func (p *partial) serves(validator string) (same bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if validator == "" || validator == p.validator {
		return true, nil
	}
	if p.validator != "" {
		return false, nil
	}
	p.validator = validator
	return true, p.beginMarks()
}

// have is the number of bytes written so far.
func (p *partial) have() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := int64(0)
	for _, c := range p.chunks {
		n += c.have
	}
	return n
}

// open returns the chunks that are not complete.
func (p *partial) open() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var open []int
	for i, c := range p.chunks {
		if c.have < c.length {
			open = append(open, i)
		}
	}
	return open
}

// digest hashes what was written of f.
func (p *partial) digest(ctx context.Context, f File) (digest, error) {
	info, err := p.file.Stat()
	if err != nil {
		return digest{}, err
	}
	return digestOf(ctx, io.NewSectionReader(p.file, 0, info.Size()), f.gitSize())
}

// keep closes the file and leaves it, under a name that says nobody writes it,
// for the next try.
func (p *partial) keep(idle string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for i := range p.chunks {
		errs = append(errs, p.mark(i))
	}
	errs = append(errs, p.close(), os.Rename(marksPath(p.path), marksPath(idle)), os.Rename(p.path, idle))
	return errors.Join(errs...)
}

// seal makes the bytes durable before the file gets its name.
func (p *partial) seal() error {
	return errors.Join(p.file.Sync(), p.close(), os.Remove(marksPath(p.path)))
}

func (p *partial) close() error {
	var marks error
	if p.marks != nil {
		marks = p.marks.Close()
	}
	return errors.Join(marks, p.file.Close())
}

// discard removes everything.
func (p *partial) discard() error {
	errs := []error{p.close(), os.Remove(p.path)}
	if err := os.Remove(marksPath(p.path)); !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
