package lines_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/coderl/cr/internal/lines"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 100) // longer than the reader's own buffer
	r := bufio.NewReaderSize(strings.NewReader("a\n"+long+"\n\nlast"), 16)
	for _, want := range []string{"a\n", long + "\n", "\n"} {
		if got, err := lines.Read(r, 1000); err != nil || string(got) != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	if got, err := lines.Read(r, 1000); !errors.Is(err, io.EOF) || string(got) != "last" {
		t.Errorf("the end: got %q, %v", got, err)
	}
}

func TestReadLimit(t *testing.T) {
	for _, size := range []int{9, 10} {
		_, err := lines.Read(bufio.NewReader(strings.NewReader(strings.Repeat("x", size)+"\n")), 10)
		if tooLong := err != nil; tooLong != (size == 10) {
			t.Errorf("%d bytes and a newline under a limit of 10: %v", size, err)
		}
	}
}
