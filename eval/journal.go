package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/coderl/cr/sandbox"
)

// journal is the append-only list of finished samples. A line is on disk before
// the sample counts as done. Records stay on disk; memory holds where they are,
// as the conversations of a long run do not fit.
type journal struct {
	file *os.File
	end  int64
	at   map[key]span // the latest record of each sample
	// infra marks samples whose latest record is an infra_error: to be run again.
	infra map[key]bool
}

type span struct {
	offset int64
	length int
}

// openJournal opens or creates a journal. A last line without its newline is
// what a kill left of a record: it is cut off, and its sample runs again.
func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &journal{file: file, at: make(map[key]span), infra: make(map[key]bool)}
	if err := lock(file); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	if err := j.scan(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return j, nil
}

// scan indexes the records and cuts a torn last line off.
func (j *journal) scan() error {
	r := bufio.NewReader(j.file)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return fmt.Errorf("line %d is damaged (%w); take it out to run its sample again", n, err)
		}
		j.note(rec, len(line))
	}
	if err := j.file.Truncate(j.end); err != nil {
		return err
	}
	_, err := j.file.Seek(j.end, io.SeekStart)
	return err
}

// note indexes a record of length bytes at the end of the file.
func (j *journal) note(rec record, length int) {
	k := rec.key()
	j.at[k] = span{j.end, length}
	j.infra[k] = rec.Sample.Verdict == sandbox.InfraError
	j.end += int64(length)
}

// done tells whether a sample needs no further run.
func (j *journal) done(k key) bool {
	_, known := j.at[k]
	return known && !j.infra[k]
}

// append puts a record on disk.
func (j *journal) append(rec record) error {
	line, err := encodeLine(rec)
	if err != nil {
		return fmt.Errorf("encode sample %d of %s: %w", rec.Sample.Index, rec.Sample.QuestionID, err)
	}
	if _, err := j.file.Write(line); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if err := j.present(); err != nil {
		return err
	}
	j.note(rec, len(line))
	return nil
}

// present tells whether the open file is still the one at its path: what is
// written to a file that was removed goes with the process.
func (j *journal) present() error {
	open, err := j.file.Stat()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if named, err := os.Stat(j.file.Name()); err != nil || !os.SameFile(open, named) {
		return fmt.Errorf("%s was removed or replaced while the run was working in it; start the run again", j.file.Name())
	}
	return nil
}

// read returns a sample's latest record. Also a run that was never interrupted
// reads its records back, so that both kinds write the same bytes.
func (j *journal) read(k key) (record, error) {
	at, ok := j.at[k]
	if !ok {
		return record{}, fmt.Errorf("journal: sample %d of %s is missing", k.sample, k.id)
	}
	line := make([]byte, at.length)
	if _, err := j.file.ReadAt(line, at.offset); err != nil {
		return record{}, fmt.Errorf("read journal: %w", err)
	}
	var rec record
	if err := json.Unmarshal(line, &rec); err != nil {
		return record{}, fmt.Errorf("read journal: sample %d of %s: %w", k.sample, k.id, err)
	}
	return rec, nil
}

func (j *journal) Close() error { return j.file.Close() }
