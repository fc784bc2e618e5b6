// Package source reads rows of text columns from parquet and JSONL files, in
// batches that may be worked on in any order and put back in order afterwards.
// Memory is bounded by the batch, not by the files.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ErrNoFiles means that a folder holds neither parquet nor JSONL files.
var ErrNoFiles = errors.New("no .parquet, .jsonl or .json files")

// trainName finds the word train in a path, as the names of splits have it.
var trainName = regexp.MustCompile(`(^|[-._ /])train([-._ /]|$)`)

// Files lists the data files behind path: itself if it is a file, else the
// parquet files below the folder, or its JSONL files when it has no parquet, in
// the order of their names. Where some are named for a train split, others are
// left out, as datasets does when it is asked for that split.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var tables, lines []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && name != path:
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
		case strings.HasSuffix(name, ".parquet"):
			tables = append(tables, name)
		case isLines(name):
			lines = append(lines, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	files := tables
	if len(files) == 0 {
		files = lines
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoFiles)
	}
	return trainFiles(path, files), nil
}

func trainFiles(root string, files []string) []string {
	train := slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		rel, err := filepath.Rel(root, name)
		return err != nil || !trainName.MatchString(filepath.ToSlash(rel))
	})
	if len(train) == 0 {
		train = files
	}
	slices.Sort(train)
	return train
}

func isLines(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json")
}
