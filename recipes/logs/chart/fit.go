package chart

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// fit shortens text to a width by leaving out its middle: names of runs that
// begin alike differ at their ends.
func fit(content string, style text.Style, width vg.Length) string {
	if style.Width(content) <= width {
		return content
	}
	letters := []rune(content)
	short := func(kept int) string {
		head := (kept + 1) / 2
		return string(letters[:head]) + "…" + string(letters[len(letters)-kept+head:])
	}
	low, high := 0, len(letters) // low fits, or nothing does
	for high-low > 1 {
		if middle := (low + high) / 2; style.Width(short(middle)) <= width {
			low = middle
		} else {
			high = middle
		}
	}
	return short(low)
}

// wrap breaks text into lines of at most width, and where it has a newline.
func wrap(content string, style text.Style, width vg.Length) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(content, "\n") {
		first := true
		for _, word := range strings.Fields(paragraph) {
			word = fit(word, style, width)
			if n := len(lines); !first && style.Width(lines[n-1]+" "+word) <= width {
				lines[n-1] += " " + word
			} else {
				lines = append(lines, word)
			}
			first = false
		}
	}
	return lines
}
