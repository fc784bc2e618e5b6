package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// readSize is how much of a file is read at once.
const readSize = 256 << 10

// Collection reads the logs of some sources, and goes on reading as they grow.
type Collection struct {
	sources []Source
	columns *columns
	files   map[string]*openFile
	order   []string
	real    map[string]string // the path that a file is read by, by where links lead
	buffer  []byte
}

// openFile is a file as far as it was read.
type openFile struct {
	logFile
	scanner *scanner
	decoder decoder
	split   splitter
	offset  int64
	info    os.FileInfo // to notice that another file took its name
}

// NewCollection is a collection that has read nothing yet. The error says which
// source cannot be meant.
func NewCollection(sources []Source) (*Collection, error) {
	named, err := labelled(sources)
	if err != nil {
		return nil, err
	}
	return &Collection{
		sources: named, columns: newColumns(), files: map[string]*openFile{}, real: map[string]string{},
		buffer: make([]byte, readSize),
	}, nil
}

// Read reads the sources as they are now, to their ends.
func Read(ctx context.Context, sources []Source) (*Logs, error) {
	c, err := NewCollection(sources)
	if err != nil {
		return nil, err
	}
	if _, err := c.Poll(ctx); err != nil {
		return nil, err
	}
	return c.Finish(), nil
}

// Poll reads what was added since the last call, in new files too; changed says
// whether there was anything. The error is an fs.ErrNotExist where a source is not
// there, after the others were read.
func (c *Collection) Poll(ctx context.Context) (changed bool, err error) {
	var missing error
	for _, source := range c.sources {
		found, err := source.find()
		if errors.Is(err, fs.ErrNotExist) {
			missing = cmp.Or(missing, err)
			continue
		}
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
	return changed, missing
}

// catchUp reads a file from where it was left.
func (c *Collection) catchUp(ctx context.Context, f logFile) (grew bool, err error) {
	if again, err := c.isKnown(f); again || err != nil {
		return false, err
	}
	known := c.files[f.path]
	if known != nil && !known.info.Mode().IsRegular() {
		return false, nil // a pipe, which is read once
	}
	in, err := open(f.path)
	if errors.Is(err, fs.ErrNotExist) && f.listed {
		return false, nil // rotated away since it was listed
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	if known == nil {
		if known = c.renamed(f, in.info); known != nil && known.path != f.path {
			return false, nil // a second name of one file
		}
	}
	switch size := in.info.Size(); {
	case known == nil || !os.SameFile(known.info, in.info) || size < known.info.Size() || size < known.offset && !in.once:
		known = c.begin(f) // new, or written anew
	case in.once && size == known.info.Size():
		return false, nil
	case in.once:
		known = c.begin(f) // there is more, and all of it must be read for that
	}
	known.info = in.info
	if !in.once {
		if _, err := in.file.Seek(known.offset, io.SeekStart); err != nil {
			return false, fmt.Errorf("logs: %s: %w", f.path, err)
		}
	}
	before := known.offset
	err = c.read(ctx, known, in)
	return known.offset > before, err
}

// renamed finds the known file that has taken the path of f, as a rotation does,
// and goes on with it there. A file that still stands under the known path, too,
// is returned as it is.
func (c *Collection) renamed(f logFile, info os.FileInfo) *openFile {
	for i, path := range c.order {
		known := c.files[path]
		if !os.SameFile(known.info, info) {
			continue
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(now, info) {
			return known
		}
		if known.run != f.run || known.objects != f.objects {
			return nil
		}
		delete(c.files, path)
		known.logFile, known.scanner.file = f, f.path
		c.files[f.path], c.order[i] = known, f.path
		return known
	}
	return nil
}

// isKnown says whether a file is read by another path already, or for another
// source, which must not want it under another label.
func (c *Collection) isKnown(f logFile) (again bool, err error) {
	real, err := filepath.EvalSymlinks(f.path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		real = f.path // what is wrong with it is told when it is opened
	}
	path, known := c.real[real]
	if !known {
		c.real[real] = f.path
		return false, nil
	}
	if first := c.files[path]; first != nil && first.run != f.run && (first.named || f.named) {
		return false, fmt.Errorf("logs: %s belongs to %s already and cannot be in %s too: name each log for one run", f.path, first.run, f.run)
	}
	return path != f.path, nil
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
		f.split.feed(f.decoder.text(c.buffer[:n], false))
		if tooMany := f.scanner.err(); tooMany != nil {
			return fmt.Errorf("logs: %s:%d: %w", f.path, f.split.number, tooMany)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF) && in.packed:
			f.scanner.problems.add(endCut, f.path, f.split.number, "the packed file is cut off here")
			return nil
		case err != nil && in.packed:
			f.scanner.problems.add(endCut, f.path, f.split.number, "the packed file is damaged from here on: %v", err)
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
		f.split.feed(f.decoder.text(nil, true))
		f.split.finish()
		f.scanner.finish()
	}
	return c.Logs()
}
