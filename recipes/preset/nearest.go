package preset

// nearest returns the known word with the fewest edits from word, or "" where
// none is within half of its length.
func nearest(word string, known []string) string {
	best, least := "", max(2, len(word)/2)+1
	for _, candidate := range known {
		if d := edits(word, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two words, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Nearest returns the known word with the fewest edits from word, or "" where
// none is within half of its length.
func Nearest(word string, known []string) string { return nearest(word, known) }
