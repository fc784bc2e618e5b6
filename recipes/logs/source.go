package logs

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Source is one place that logs are read from.
type Source struct {
	// Name labels the run. Where it is empty the runs are named after the folders
	// that their logs lie in.
	Name string
	Path string // a folder, searched with all below it, or a file

	folder string // what the source's own folder is called without a name
}

// ParseSource reads an argument: PATH, or NAME=PATH where no file is called so.
func ParseSource(arg string) Source {
	if name, path, named := strings.Cut(arg, "="); named && name != "" && !strings.Contains(name, "/") {
		if _, err := os.Lstat(arg); err != nil {
			return Source{Name: name, Path: path}
		}
	}
	return Source{Path: arg}
}

// labelled gives the sources without a name one: the last element of the path, or
// all of it where two sources would be called the same.
func labelled(sources []Source) ([]Source, error) {
	out := make([]Source, len(sources))
	count := map[string]int{}
	names := map[string]bool{}
	for i, s := range sources {
		if err := s.check(); err != nil {
			return nil, err
		}
		out[i] = s
		out[i].folder = filepath.Base(filepath.Clean(s.Path))
		if abs, err := filepath.Abs(s.Path); err == nil {
			out[i].folder = filepath.Base(abs) // also of "."
		}
		count[out[i].folder]++
		names[s.Name] = true
	}
	for i := range out {
		if count[out[i].folder] > 1 {
			out[i].folder = filepath.ToSlash(filepath.Clean(out[i].Path))
		}
		out[i].folder = printable(out[i].folder)
		if out[i].Name == "" && names[out[i].folder] {
			return nil, fmt.Errorf("logs: %s would be called %q as the one labelled so is: write NAME=%s", out[i].Path, out[i].folder, out[i].Path)
		}
	}
	return out, nil
}

// check refuses a source that cannot be meant, and a label that no table or
// figure can hold, or that a spreadsheet would run.
func (s Source) check() error {
	switch {
	case s.Path == "" && s.Name == "":
		return errors.New("logs: an argument is empty: want a folder or a file with logs")
	case s.Path == "":
		return fmt.Errorf("logs: %s=: no folder or file is named behind the label", s.Name)
	case s.Name != "" && s.Name != printable(s.Name):
		return fmt.Errorf("logs: label %q: want printable characters, and none of = + - @ at the beginning, which spreadsheets take for a formula", s.Name)
	}
	return nil
}

// printable is a name as tables, figures and terminals can show it: characters
// that move a terminal's cursor are replaced, and a beginning that a spreadsheet
// would take for a formula stands behind "./", as the folder it comes from may.
func printable(name string) string {
	name = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, name)
	if name != "" && strings.IndexByte("=+-@", name[0]) >= 0 {
		return "./" + name
	}
	return name
}

// logFile is a file that may hold metrics.
type logFile struct {
	path    string
	objects bool   // a metrics file of JSON lines
	run     string // the run it belongs to
	named   bool   // the run, by the caller
	listed  bool   // found in a folder, not named itself
}

// find lists the files of a source in the order of their paths, links last. Links
// to folders are not followed.
func (s Source) find() ([]logFile, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	if !info.IsDir() {
		return []logFile{s.file(s.Path, s.folder)}, nil
	}
	root := s.Path
	if link, err := os.Lstat(root); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // the folder, not the link
	}
	var found, links []logFile
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != root:
			return nil // it went away while we looked
		case err != nil:
			return err
		case entry.IsDir() && path != root && skipFolder(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !isLog(path, entry):
			return nil
		}
		f := s.file(path, s.folderName(filepath.Dir(path)))
		f.listed = true
		if entry.Type()&fs.ModeSymlink != 0 {
			links = append(links, f)
		} else {
			found = append(found, f)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("logs: look through %s: %w", s.Path, err)
	}
	return append(found, links...), nil // a link to a log that is there is that log
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
	return s.folder + "/" + printable(filepath.ToSlash(below))
}

// skipFolder keeps the search out of checkpoints and hidden folders.
func skipFolder(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "global_step_")
}

// isLog says whether a file of a folder is read: consoles, and metrics files.
func isLog(path string, entry fs.DirEntry) bool {
	if strings.HasPrefix(entry.Name(), ".") {
		return false
	}
	if entry.Type()&fs.ModeSymlink != 0 {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return false // it leads nowhere, or to a folder
		}
	} else if !entry.Type().IsRegular() {
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
