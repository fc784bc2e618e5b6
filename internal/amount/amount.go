// Package amount writes how many there are of something.
package amount

import "strconv"

// Of is a number and the thing that is counted, "1 problem", "2 problems": one is
// its name in the singular, whose plural ends in s.
func Of[N int | int64](n N, one string) string {
	text := strconv.FormatInt(int64(n), 10) + " " + one
	if n != 1 {
		text += "s"
	}
	return text
}
