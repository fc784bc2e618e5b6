package datasets

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/coderl/cr/internal/lines"
)

// maxLine bounds one line of a problem file; LiveCodeBench's largest are some
// tens of megabytes of compressed tests.
const maxLine = 512 << 20

// errNotUTF8: a file in another encoding, or none of text.
var errNotUTF8 = errors.New("the text is not UTF-8")

// eachLine calls row with every line of r that is not blank, without its end,
// numbered from 1. The bytes are row's until it returns. Errors name the line.
func eachLine(ctx context.Context, r io.Reader, row func(number int, line []byte) error) error {
	reader := bufio.NewReaderSize(r, 1<<20)
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Read(reader, maxLine)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			// The decoder would put U+FFFD into programs and tests without a word.
			if !utf8.Valid(line) {
				return fmt.Errorf("line %d: %w", number, errNotUTF8)
			}
			if err := row(number, line); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		if last {
			return nil
		}
	}
}
