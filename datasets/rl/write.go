package rl

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/table"
	"github.com/coderl/cr/internal/atomicfile"
)

// The files of a build.
const (
	TrainFile      = "train.parquet"
	ValidationFile = "validation.parquet"
	LinesFile      = "validation.jsonl"
)

// write makes all files, or none. The largest comes last: its rows are not
// needed any more while the disk takes it.
func (b *build) write(ctx context.Context, dir string, f *findings, train, validation []uint32) error {
	total := len(train) + len(validation)
	v := &part{build: b, found: f, rows: validation, name: "validation", total: total}
	p := &part{build: b, found: f, rows: train, name: "train", total: total, before: len(validation)}
	files := []atomicfile.File{
		{Path: filepath.Join(dir, ValidationFile), Fill: func(w io.Writer) error { return v.writeTable(ctx, w) }},
		{Path: filepath.Join(dir, LinesFile), Fill: func(w io.Writer) error { return v.writeLines(ctx, w) }},
	}
	if b.gone != nil {
		files = append(files, atomicfile.File{
			Path: b.options.Dropped,
			Fill: func(w io.Writer) error { return b.writeDropped(w, f) },
		})
	}
	files = append(files, atomicfile.File{
		Path: filepath.Join(dir, TrainFile),
		Fill: func(w io.Writer) error {
			if err := p.writeTable(ctx, w); err != nil {
				return err
			}
			// Build closes it again, and so waits for this and reports its error.
			go func() { _ = b.kept.close() }()
			return nil
		},
	})
	return atomicfile.WriteTogether(files...)
}

// part is one of the split's two.
type part struct {
	build  *build
	found  *findings
	rows   []uint32 // indices of kept rows, in order
	name   string
	total  int // rows of both parts, for progress
	before int // rows written before this part
}

// groups cuts the rows into row groups by their bytes.
func (p *part) groups() (ends []int) {
	size := 0
	for i, row := range p.rows {
		if size += p.found.kept[row].place.size; size >= table.RowGroupBytes {
			ends = append(ends, i+1)
			size = 0
		}
	}
	if size > 0 {
		ends = append(ends, len(p.rows))
	}
	return ends
}

// writeTable writes the part as parquet. Row groups are filled in parallel and
// written in order.
func (p *part) writeTable(ctx context.Context, w io.Writer) error {
	config, err := parquet.NewWriterConfig(table.Writer(schemaOf(p.build.options.ExtraInfo), &table.Snappy{}, longText...)...)
	if err != nil {
		return err
	}
	writer := parquet.NewGenericWriter[any](w, config)
	ctx, cancel := context.WithCancel(ctx)
	pending := p.fillAll(ctx, writer)
	// Leaving early stops the filling; the drain below waits for it.
	defer func() {
		cancel()
		for range pending {
			continue
		}
	}()
	done := p.before
	for filling := range pending {
		filled := <-filling
		if filled.err != nil {
			return fmt.Errorf("fill a row group: %w", filled.err)
		}
		if _, err := filled.group.Commit(); err != nil {
			return err
		}
		done += filled.rows
		p.build.options.report(Progress{Stage: "write", Done: done, Total: p.total, Rows: p.found.rows})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return writer.Close()
}

// filledGroup is a row group ready to be written.
type filledGroup struct {
	group *parquet.ConcurrentRowGroupWriter
	rows  int
	err   error
}

// fillAll fills the row groups, as many at a time as there are workers, and
// hands them out in order.
func (p *part) fillAll(ctx context.Context, writer *parquet.GenericWriter[any]) <-chan chan filledGroup {
	pending := make(chan chan filledGroup, max(0, p.build.options.workers()-2))
	go func() {
		defer close(pending)
		start := 0
		for _, end := range p.groups() {
			if ctx.Err() != nil {
				return
			}
			filling := make(chan filledGroup, 1)
			rows, group := p.rows[start:end], writer.BeginRowGroup()
			go func() {
				filling <- filledGroup{group, len(rows), p.fill(ctx, group, rows)}
			}()
			pending <- filling
			start = end
		}
	}()
	return pending
}

// rowsAtOnce is how many rows are put into columns together.
const rowsAtOnce = 16

func (p *part) fill(ctx context.Context, group *parquet.ConcurrentRowGroupWriter, rows []uint32) error {
	var (
		batch [rowsAtOnce]parquet.Row
		bufs  [rowsAtOnce][]byte
		err   error
	)
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(rows), rowsAtOnce)
		for i, row := range rows[:n] {
			k := p.found.kept[row]
			if bufs[i], err = p.build.kept.read(k.place, bufs[i]); err != nil {
				return err
			}
			batch[i] = appendRow(batch[i][:0], cutCells(bufs[i]))
			if p.build.options.ExtraInfo {
				batch[i] = appendExtra(batch[i], k.row, p.name)
			}
		}
		if _, err := group.WriteRows(batch[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return group.Flush()
}

// writeLines writes the part as pandas' JSONL.
func (p *part) writeLines(ctx context.Context, w io.Writer) error {
	var row, line []byte
	var err error
	for _, index := range p.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := p.found.kept[index]
		if row, err = p.build.kept.read(k.place, row); err != nil {
			return err
		}
		extra := ""
		if p.build.options.ExtraInfo {
			extra = fmt.Sprintf(`{"index":%d,"split":"%s"}`, k.row, p.name)
		}
		line = appendLine(line[:0], cutCells(row), extra)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
