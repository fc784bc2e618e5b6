package logs

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Source is one place that logs are read from.
type Source struct {
	// Name labels the run. Where it is empty the runs are named after the folders
	// that their logs lie in.
	Name string
	Path string // a folder, searched with all below it, or a file

	folder string // what the source's own folder is called without a name
}

// ParseSource reads an argument: PATH, or NAME=PATH.
func ParseSource(arg string) Source {
	if name, path, named := strings.Cut(arg, "="); named && name != "" && !strings.Contains(name, "/") {
		if _, err := os.Lstat(arg); errors.Is(err, fs.ErrNotExist) {
			return Source{Name: name, Path: path}
		}
	}
	return Source{Path: arg}
}

// labelled gives the sources without a name one: the last element of the path, or
// all of it where two sources would be called the same.
func labelled(sources []Source) []Source {
	out := make([]Source, len(sources))
	count := map[string]int{}
	for i, s := range sources {
		out[i] = s
		out[i].folder = filepath.Base(filepath.Clean(s.Path))
		if abs, err := filepath.Abs(s.Path); err == nil {
			out[i].folder = filepath.Base(abs) // also of "."
		}
		count[out[i].folder]++
	}
	for i := range out {
		if count[out[i].folder] > 1 {
			out[i].folder = filepath.ToSlash(filepath.Clean(out[i].Path))
		}
	}
	return out
}

// logFile is a file that may hold metrics.
type logFile struct {
	path    string
	objects bool   // a metrics file of JSON lines
	run     string // the run it belongs to
	named   bool   // by the caller
}

// find lists the files of a source in the order of their paths.
func (s Source) find() ([]logFile, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	if !info.IsDir() {
		return []logFile{s.file(s.Path, s.folder)}, nil
	}
	var found []logFile
	err = filepath.WalkDir(s.Path, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != s.Path && skipFolder(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !isLog(path, entry):
			return nil
		}
		found = append(found, s.file(path, s.folderName(filepath.Dir(path))))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("logs: look through %s: %w", s.Path, err)
	}
	return found, nil
}

func (s Source) file(path, folder string) logFile {
	f := logFile{path: path, objects: isObjects(path), run: folder, named: s.Name != ""}
	if f.named {
		f.run = s.Name
	}
	return f
}

// folderName names a folder's run: as the source's own folder, and below it with
// the path from there.
func (s Source) folderName(dir string) string {
	below, err := filepath.Rel(s.Path, dir)
	if err != nil || below == "." {
		return s.folder
	}
	return s.folder + "/" + filepath.ToSlash(below)
}

// skipFolder keeps the search out of checkpoints and hidden folders.
func skipFolder(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "global_step_")
}

// isLog says whether a file of a folder is read: consoles, and metrics files.
func isLog(path string, entry fs.DirEntry) bool {
	if !entry.Type().IsRegular() && entry.Type()&fs.ModeSymlink == 0 || strings.HasPrefix(entry.Name(), ".") {
		return false
	}
	name := strings.TrimSuffix(entry.Name(), ".gz")
	if isObjects(name) {
		return strings.HasPrefix(name, "metrics") || strings.HasPrefix(name, "timing") || isFileLogger(path)
	}
	name = strings.TrimRight(name, "0123456789") // rotated: run.log.1
	for _, suffix := range []string{".log", ".log.", ".out", ".out.", ".err", ".txt"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

func isObjects(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
}

// isFileLogger says whether a file's first line is {"step": N, "data": {…}},
// verl's file logger, and not one of the many other JSON lines of a run folder.
func isFileLogger(path string) bool {
	stream, err := open(path)
	if err != nil {
		return false // a file that cannot be read is named when it is asked for by name
	}
	defer stream.Close()
	head, _ := bufio.NewReaderSize(stream, 4096).Peek(4096) // what there is will do
	text := strings.ReplaceAll(string(head), " ", "")
	return strings.HasPrefix(text, `{"step":`) && strings.Contains(text, `,"data":{`)
}
