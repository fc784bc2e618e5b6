package hub

import (
	"strconv"
	"strings"
)

// contentRange is a Content-Range header; total is -1 where the server does not
// say.
type contentRange struct{ start, end, total int64 }

// parseContentRange reads "bytes START-END/TOTAL" (RFC 9110, 14.4).
func parseContentRange(text string) (contentRange, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "bytes ")
	if !ok {
		return contentRange{}, false
	}
	span, whole, ok := strings.Cut(rest, "/")
	from, to, ok2 := strings.Cut(span, "-")
	if !ok || !ok2 {
		return contentRange{}, false
	}
	r := contentRange{total: -1}
	var good [3]bool
	r.start, good[0] = digits(from)
	r.end, good[1] = digits(to)
	good[2] = whole == "*"
	if !good[2] {
		r.total, good[2] = digits(whole)
	}
	valid := good == [3]bool{true, true, true} && r.start <= r.end && (r.total < 0 || r.end < r.total)
	return r, valid
}

// digits reads a plain decimal number: no sign, no space.
func digits(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}
