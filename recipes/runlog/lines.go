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
// last.
func openLines(path string, last int) (*lineFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	end, err := endOfSteps(file, last)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return &lineFile{file}, nil
}

// longestLine bounds a line of the log, which has a few hundred metrics.
const longestLine = 1 << 20

// endOfSteps is the offset behind the last whole line of a step up to last.
func endOfSteps(r io.Reader, last int) (int64, error) {
	var end int64
	in := bufio.NewReaderSize(r, longestLine)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return end, nil // what follows the last newline is torn
		}
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", number, err)
		}
		var head struct {
			Step *int `json:"step"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.Step == nil {
			return 0, fmt.Errorf("line %d is not a step of a run", number)
		}
		if *head.Step > last {
			return end, nil
		}
		end += int64(len(line))
	}
}
