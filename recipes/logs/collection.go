package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// readSize is how much of a file is read at once.
const readSize = 256 << 10

// Collection reads the logs of some sources, and goes on reading as they grow.
type Collection struct {
	sources []Source
	columns *columns
	files   map[string]*openFile
	order   []string
	buffer  []byte
}

// openFile is a file as far as it was read.
type openFile struct {
	logFile
	scanner *scanner
	split   splitter
	offset  int64
	info    os.FileInfo // to notice that another file took its name
	done    bool        // packed files are read once
}

// NewCollection is a collection that has read nothing yet.
func NewCollection(sources []Source) *Collection {
	return &Collection{sources: labelled(sources), columns: newColumns(), files: map[string]*openFile{}, buffer: make([]byte, readSize)}
}

// Read reads the sources as they are now, to their ends.
func Read(ctx context.Context, sources []Source) (*Logs, error) {
	c := NewCollection(sources)
	if _, err := c.Poll(ctx); err != nil {
		return nil, err
	}
	return c.Finish(), nil
}

// Poll reads what was added since the last call, in new files too; changed says
// whether there was anything.
func (c *Collection) Poll(ctx context.Context) (changed bool, err error) {
	for _, source := range c.sources {
		found, err := source.find()
		if err != nil {
			return changed, err
		}
		for _, f := range found {
			grew, err := c.catchUp(ctx, f)
			if err != nil {
				return changed, err
			}
			changed = changed || grew
		}
	}
	return changed, nil
}

// catchUp reads a file from where it was left.
func (c *Collection) catchUp(ctx context.Context, f logFile) (grew bool, err error) {
	in, err := open(f.path)
	if err != nil {
		return false, err
	}
	defer in.Close()
	info, err := in.file.Stat()
	if err != nil {
		return false, fmt.Errorf("logs: %w", err)
	}
	known := c.files[f.path]
	if known == nil || !os.SameFile(known.info, info) || info.Size() < known.offset && !in.packed {
		known = c.begin(f) // new, or written anew
	}
	known.info = info
	if known.done {
		return false, nil
	}
	if !in.packed {
		if _, err := in.file.Seek(known.offset, io.SeekStart); err != nil {
			return false, fmt.Errorf("logs: %s: %w", f.path, err)
		}
	}
	before := known.offset
	err = c.read(ctx, known, in)
	known.done = in.packed
	return known.offset > before, err
}

func (c *Collection) begin(f logFile) *openFile {
	known := &openFile{logFile: f, scanner: newScanner(f.path, f.objects, c.columns)}
	known.split = splitter{
		number: 1,
		line:   known.scanner.line,
		tooLong: func(number int64) {
			known.scanner.problems.add(longLine, f.path, number, "a line of more than %d MB is skipped", maxLine>>20)
		},
	}
	if _, again := c.files[f.path]; !again {
		c.order = append(c.order, f.path)
	}
	c.files[f.path] = known
	return known
}

// read feeds a stream to a file's scanner until its end.
func (c *Collection) read(ctx context.Context, f *openFile, in *stream) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := in.Read(c.buffer)
		f.offset += int64(n)
		f.split.feed(c.buffer[:n])
		if tooMany := f.scanner.err(); tooMany != nil {
			return fmt.Errorf("logs: %s:%d: %w", f.path, f.split.number, tooMany)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF) && in.packed:
			f.scanner.problems.add(endCut, f.path, f.split.number, "the packed file is cut off here")
			return nil
		case err != nil:
			return fmt.Errorf("logs: %s:%d: %w", f.path, f.split.number, err)
		}
	}
}

// Finish takes the files as ended and joins them to runs. It is for the end:
// what is added to the files later is not read.
func (c *Collection) Finish() *Logs {
	for _, f := range c.files {
		f.split.finish()
		f.scanner.finish()
	}
	return c.Logs()
}
