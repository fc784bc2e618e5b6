package runlog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// jsonLine is {"step": N, "key": value, …} with a newline, keys in their order.
func jsonLine(step int, metrics []Metric) []byte {
	line := append([]byte(`{"step": `), strconv.Itoa(step)...)
	for _, m := range metrics {
		line = append(line, ", "...)
		line = appendString(line, m.Key)
		line = append(line, ": "...)
		line = append(line, m.json()...)
	}
	return append(line, "}\n"...)
}

func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		return strconv.AppendQuote(b, s)
	}
	return append(b, quoted...)
}

// openLines opens a file of lines for appending after the lines of steps up to
// last, and counts those that are there.
func openLines(path string, last int) (f *lineFile, there int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, 0, fmt.Errorf("open the log: %w", err)
	}
	end, there, err := endOfSteps(file, last)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return &lineFile{file}, there, nil
}

// longestLine bounds a line of the log, which has a few hundred metrics.
const longestLine = 1 << 20

// endOfSteps is the offset behind the last whole line of a step up to last, and
// how many of the steps from 1 on have a line.
func endOfSteps(r io.Reader, last int) (end int64, there int, err error) {
	in := bufio.NewReaderSize(r, longestLine)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return end, there, nil // what follows the last newline is torn
		}
		if err != nil {
			return 0, 0, fmt.Errorf("line %d: %w", number, err)
		}
		var head struct {
			Step *int `json:"step"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.Step == nil {
			return 0, 0, fmt.Errorf("line %d is not a step of a run", number)
		}
		if *head.Step > last {
			return end, there, nil
		}
		if *head.Step > 0 {
			there++
		}
		end += int64(len(line))
	}
}
