package verl

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed keys/*.keys
var keyFiles embed.FS

// Versions lists the verl versions that recipes can be taken to, oldest first.
// keys/keys.py makes the table of another one.
func Versions() []string {
	entries, err := keyFiles.ReadDir("keys")
	if err != nil {
		return nil // the folder is part of the program
	}
	var all []string
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	slices.SortFunc(all, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return all
}

// Newest is the newest of Versions.
func Newest() string {
	all := Versions()
	return all[len(all)-1]
}

func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = -1
		}
		all = append(all, n)
	}
	return all
}

func loadKeys(version string) (*keyTable, error) {
	text, err := keyFiles.ReadFile("keys/" + version + ".keys")
	if err != nil {
		return nil, fmt.Errorf("verl %s is none of the versions known here, %s", version, strings.Join(Versions(), ", "))
	}
	return parseKeys(version, string(text))
}
