package rl

import (
	"fmt"
	"io"
	"strconv"

	"github.com/coderl/cr/datasets/pyvalue"
	"github.com/coderl/cr/datasets/source"
)

// appendDropped appends a dropped row's line but for its number, which is known
// only once all rows before it are.
func appendDropped(b []byte, d *drop, row []source.Field) []byte {
	b = appendReason(b, d)
	for i, field := range row {
		if field.Kind == source.Text {
			b = appendMember(b, columns[i], field.Text)
		} else {
			b = append(b, `,"`+columns[i]+`":null`...)
		}
	}
	return append(b, '}')
}

// appendDroppedRecord is appendDropped for a row that passed the recipe's rules;
// its tests have their final form.
func appendDroppedRecord(b []byte, d *drop, c cells) []byte {
	b = appendReason(b, d)
	b = appendMember(b, columns[colPrompt], string(c.prompt))
	b = appendMember(b, columns[colSolution], string(c.solution))
	b = appendMember(b, "ground_truth", string(c.groundTruth))
	b = appendMember(b, columns[colSource], string(c.source))
	return append(b, '}')
}

func appendReason(b []byte, d *drop) []byte {
	b = append(b, `,"reason":"`+string(d.reason)+`"`...)
	return appendMember(b, "detail", d.detail)
}

func appendMember(b []byte, name, text string) []byte {
	b = append(b, `,"`+name+`":`...)
	// A string can always be written.
	b, _ = pyvalue.AppendJSON(b, pyvalue.Value{Kind: pyvalue.Str, Text: text})
	return b
}

// writeDropped writes the dropped rows as JSONL, in the source's order.
func (b *build) writeDropped(w io.Writer, f *findings) error {
	var row []byte
	var err error
	for _, g := range f.gone {
		if row, err = b.gone.read(g.place, row); err != nil {
			return err
		}
		if _, err := w.Write(append(strconv.AppendInt([]byte(`{"row":`), int64(g.row), 10), row...)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// logExamples shows a few dropped rows of each reason.
func (b *build) logExamples(f *findings) {
	if b.options.Log == nil {
		return
	}
	for _, e := range f.examples {
		b.options.Log.Info("dropped", "row", e.row, "reason", string(e.reason), "detail", e.detail)
	}
	b.options.Log.Debug("rows", "read", f.rows, "kept", len(f.kept), "dropped", fmt.Sprint(f.counts))
}
