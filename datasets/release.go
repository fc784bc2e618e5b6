package datasets

import (
	"fmt"
	"strconv"
	"strings"
)

// increments are the problems that each file of LiveCodeBench adds: test.jsonl,
// test2.jsonl, … test6.jsonl. Their sums are the sizes of the releases: 400,
// 511, 612, 713, 880, 1055.
var increments = [...]int{400, 111, 101, 101, 167, 175}

// release is a run of LiveCodeBench's files, first to last, counted from 1.
type release struct{ first, last int }

// parseRelease reads v5 or release_v5 (files 1 to 5), v4_v5 (files 4 to 5) and
// latest or release_latest.
func parseRelease(s string) (release, error) {
	name := strings.TrimPrefix(strings.ToLower(s), "release_")
	if name == "latest" {
		return release{1, len(increments)}, nil
	}
	from, to, span := strings.Cut(name, "_")
	if !span {
		from, to = "v1", from
	}
	first, ok := version(from)
	last, ok2 := version(to)
	if !ok || !ok2 || first > last {
		return release{}, fmt.Errorf("release %q is unknown: use v1 to v%d, vA_vB for the files A to B alone, or latest", s, len(increments))
	}
	return release{first, last}, nil
}

func version(s string) (int, bool) {
	digits, ok := strings.CutPrefix(s, "v")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1 && n <= len(increments) && digits == strconv.Itoa(n)
}

func (r release) String() string {
	if r.first == 1 {
		return fmt.Sprintf("v%d", r.last)
	}
	return fmt.Sprintf("v%d_v%d", r.first, r.last)
}

// count is how many problems the release holds.
func (r release) count() int {
	n := 0
	for _, added := range increments[r.first-1 : r.last] {
		n += added
	}
	return n
}

// files are the names of the release's files.
func (r release) files() []string {
	var names []string
	for i := r.first; i <= r.last; i++ {
		names = append(names, fileName(i))
	}
	return names
}

func fileName(i int) string {
	if i == 1 {
		return "test.jsonl"
	}
	return fmt.Sprintf("test%d.jsonl", i)
}
