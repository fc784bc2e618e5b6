package logs

import "bytes"

// maxLine is the longest line that is looked at. A step with a thousand metrics
// has 60 kB; what is longer is a dump.
const maxLine = 4 << 20

// splitter cuts a stream into lines at newlines and at the carriage returns that
// progress bars are redrawn with. It may be fed a file as that grows.
type splitter struct {
	number  int64 // of the line that is being read, from 1, counted by newlines
	partial []byte
	skip    bool // the rest of a line that is too long
	line    func(text []byte, number int64, whole bool)
	tooLong func(number int64)
}

// feed takes the next bytes of the stream. The text given to line is valid until
// it returns.
func (s *splitter) feed(chunk []byte) {
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n')
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		s.redraws(part)
		if end < 0 {
			return
		}
		s.end()
		s.number++
		chunk = chunk[end+1:]
	}
}

// redraws takes a stretch without newlines.
func (s *splitter) redraws(part []byte) {
	for {
		end := bytes.IndexByte(part, '\r')
		if end < 0 {
			s.add(part)
			return
		}
		s.add(part[:end])
		s.end()
		part = part[end+1:]
	}
}

func (s *splitter) add(part []byte) {
	switch {
	case s.skip:
	case len(s.partial)+len(part) > maxLine:
		s.skip, s.partial = true, s.partial[:0]
		s.tooLong(s.number)
	default:
		s.partial = append(s.partial, part...)
	}
}

// end closes a line.
func (s *splitter) end() {
	if len(s.partial) > 0 {
		s.line(s.partial, s.number, true)
	}
	s.partial, s.skip = s.partial[:0], false
}

// finish hands over what stands behind the last newline.
func (s *splitter) finish() {
	if len(s.partial) > 0 {
		s.line(s.partial, s.number, false)
	}
	s.partial, s.skip = s.partial[:0], false
}
