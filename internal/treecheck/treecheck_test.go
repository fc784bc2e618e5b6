// Package treecheck holds the tests that police the tree itself: what a linter
// does not know of this project's habits.
package treecheck

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// The size limits of the project's habits.
const (
	maxLines       = 800
	maxMedianLines = 150
	maxFuncLines   = 120
)

// goFiles calls visit for every Go file of the project.
func goFiles(t *testing.T, visit func(path string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "build", "bin", "runs", "testdata"}, d.Name()) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err == nil {
			visit(path, src)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFileSizes(t *testing.T) {
	var sizes []int
	goFiles(t, func(path string, src []byte) {
		lines := bytes.Count(src, []byte("\n"))
		if lines > maxLines {
			t.Errorf("%s: %d lines, at most %d: split it by idea", path, lines, maxLines)
		}
		if !strings.HasSuffix(path, "_test.go") {
			sizes = append(sizes, lines)
		}
	})
	slices.Sort(sizes)
	if len(sizes) == 0 {
		t.Fatal("no files found")
	}
	if median := sizes[len(sizes)/2]; median > maxMedianLines {
		t.Errorf("the median file has %d lines, at most %d", median, maxMedianLines)
	}
}

func TestDocumented(t *testing.T) {
	documented, seen := map[string]bool{}, map[string]bool{}
	goFiles(t, func(path string, src []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(path)
		seen[dir] = true
		documented[dir] = documented[dir] || file.Doc != nil
		for _, decl := range file.Decls {
			checkDecl(t, set, decl)
		}
	})
	for dir := range seen {
		if !documented[dir] {
			t.Errorf("%s: the package has no doc comment", dir)
		}
	}
}

// checkDecl wants a comment on every exported name, and short functions.
func checkDecl(t *testing.T, set *token.FileSet, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		where := set.Position(d.Pos())
		if lines := set.Position(d.End()).Line - where.Line + 1; lines > maxFuncLines {
			t.Errorf("%s: %s has %d lines, at most %d", where, d.Name.Name, lines, maxFuncLines)
		}
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			t.Errorf("%s: %s has no doc comment", where, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
				t.Errorf("%s: %s has no doc comment", set.Position(s.Pos()), s.Name.Name)
			}
		}
	}
}

// exportedReceiver is false for methods that no other package can name, and for
// those whose doc is their interface's.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	switch d.Name.Name {
	case "Error", "Unwrap", "String", "Len", "Less", "Swap", "Is":
		return false
	}
	star, ok := d.Recv.List[0].Type.(*ast.StarExpr)
	expr := d.Recv.List[0].Type
	if ok {
		expr = star.X
	}
	name, ok := expr.(*ast.Ident)
	return ok && name.IsExported()
}
