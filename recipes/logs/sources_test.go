package logs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/coderl/cr/recipes/logs"
)

// utf16Of is text as the shells of Windows write it.
func utf16Of(t *testing.T, order binary.AppendByteOrder, text string) string {
	t.Helper()
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestEncodings: one log in every encoding that redirections make, packed or not,
// is one table.
func TestEncodings(t *testing.T) {
	const log = "進捗 😀 5%|█\rstep:1 - val-core/題/acc/mean@1:0.5 - a:1\r\n(TaskRunner pid=1) step:2 - a:2\r\n"
	const want = "step,val-core/題/acc/mean@1,a\n1,0.5,1\n2,,2\n"
	little, big := utf16Of(t, binary.LittleEndian, log), utf16Of(t, binary.BigEndian, log)
	const plain = "step:1 - a:1\nstep:2 - a:2\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"utf-8":                     {"a.log", log, want},
		"utf-8 with mark":           {"a.log", "\ufeff" + log, want},
		"utf-16 little":             {"a.log", "\xff\xfe" + little, want},
		"utf-16 big":                {"a.log", "\xfe\xff" + big, want},
		"utf-16 little, no mark":    {"a.log", utf16Of(t, binary.LittleEndian, plain), "step,a\n1,1\n2,2\n"},
		"utf-16 big, no mark":       {"a.log", utf16Of(t, binary.BigEndian, plain), "step,a\n1,1\n2,2\n"},
		"packed utf-16":             {"a.log.gz", string(packed(t, "\xff\xfe"+little)), want},
		"utf-16, cut in a letter":   {"a.log", "\xff\xfe" + little + "x", want},
		"metrics with mark":         {"metrics.jsonl", "\ufeff{\"step\":1,\"a\":1}\n{\"step\":2,\"a\":2}\n", "step,a\n1,1\n2,2\n"},
		"metrics in utf-16":         {"metrics.jsonl", "\xff\xfe" + utf16Of(t, binary.LittleEndian, "{\"step\":1,\"a\":1}\n"), "step,a\n1,1\n"},
		"three bytes and no more":   {"a.log", "abc", ""},
		"a mark and nothing":        {"a.log", "\xff\xfe", ""},
		"a lone surrogate":          {"a.log", "\xff\xfe" + utf16Of(t, binary.LittleEndian, "x") + "\x00\xd8" + utf16Of(t, binary.LittleEndian, "\n"+plain), "step,a\n1,1\n2,2\n"},
		"zeros where a file grew":   {"a.log", "step:1 - a:1\n\x00\x00\x00step:2 - a:2\n", "step,a\n1,1\n2,2\n"},
		"garbage, then metrics":     {"a.log", "\x1f\x00\xff\xfe\x80" + "\n" + plain, "step,a\n1,1\n2,2\n"},
		"titles and character sets": {"a.log", "\x1b]0;train\x07step:1 - \x1b[32ma\x1b[0m:\x1b[1;31m1\x1b[0m\n\x1b(Bstep:2 - a:2\x1b[K\n\x1bP1$r\x1b\\\x1b7step:3 - a:3\x1b", "step,a\n1,1\n2,2\n3,3\n"},
	} {
		t.Run(name, func(t *testing.T) {
			found := read(t, folder(t, map[string]string{c.file: c.text}))
			if c.want == "" {
				if len(found.Runs) != 0 || len(found.Silent) != 1 {
					t.Errorf("runs %v", found.Runs)
				}
				return
			}
			same(t, table(t, found, logs.Table{}), c.want)
		})
	}
}

// TestGrowingUTF16 reads a letter that is written in two parts.
func TestGrowingUTF16(t *testing.T) {
	text := "\xff\xfe" + utf16Of(t, binary.LittleEndian, "step:1 - a:1\nstep:2 - a:2\n")
	for cut := range len(text) {
		dir := folder(t, map[string]string{"x.log": text[:cut]})
		c, err := logs.NewCollection([]logs.Source{{Path: dir}})
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range []string{text[:cut], text} {
			if err := os.WriteFile(filepath.Join(dir, "x.log"), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Poll(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		same(t, table(t, c.Finish(), logs.Table{}), "step,a\n1,1\n2,2\n")
	}
}

// TestLinks: a link is the log that it leads to, wherever it stands; one that
// leads nowhere or to a folder is none, and a source may be a link.
func TestLinks(t *testing.T) {
	dir := folder(t, map[string]string{"run-1.log": "step:1 - a:1\n", "run-2.log": "step:1 - a:2\n", "sub/x.log": "step:1 - b:1\n"})
	for to, from := range map[string]string{"run-2.log": "latest.log", "/nowhere/x": "gone.log", "sub": "folder.log"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "run-2.log"), filepath.Join(dir, "run-3.log")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for source, name := range map[string]string{dir: "run", link: "linked"} {
		found := read(t, source)
		same(t, table(t, found, logs.Table{Runs: true}), "run,step,a,b\n"+name+",1,2,\n"+name+"/sub,1,,1\n")
		if len(found.Problems) > 0 {
			t.Errorf("problems: %v", found.Problems)
		}
	}
}

// TestPipe reads what a shell gives in place of a file, packed or not.
func TestPipe(t *testing.T) {
	for name, text := range map[string][]byte{"plain": []byte("step:1 - a:1\n"), "packed": packed(t, "step:1 - a:1\n")} {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/dev/fd/%d", from.Fd())
		if _, err := os.Stat(path); err != nil {
			t.Skipf("no %s", path)
		}
		t.Run(name, func(t *testing.T) {
			same(t, table(t, read(t, "x="+path), logs.Table{}), "step,a\n1,1\n")
		})
		if err := from.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSourcesRefused: what cannot be meant, or would be told apart by nothing, is
// one clear line.
func TestSourcesRefused(t *testing.T) {
	dir := folder(t, map[string]string{"sub/x.log": "step:1 - a:1\n"})
	sub := filepath.Join(dir, "sub")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"empty":                {[]string{""}, "an argument is empty"},
		"label alone":          {[]string{"x="}, "x=: no folder or file is named behind the label"},
		"escape in a label":    {[]string{"\x1b[31mred=" + dir}, `label "\x1b[31mred": want printable characters`},
		"newline in a label":   {[]string{"a\nb=" + dir}, `label "a\nb": want printable characters`},
		"formula":              {[]string{"@SUM(A1)=" + dir}, `label "@SUM(A1)": want printable`},
		"one log, two labels":  {[]string{"a=" + dir, "b=" + sub}, "x.log belongs to a already and cannot be in b too"},
		"labelled and not":     {[]string{sub, "b=" + dir}, "x.log belongs to sub already and cannot be in b too"},
		"folder as a label is": {[]string{"sub=" + filepath.Join(sub, "x.log"), sub}, `would be called "sub" as the one labelled so is: write NAME=`},
		"long":                 {[]string{strings.Repeat("x", 300) + "=/nowhere/y"}, "stat /nowhere/y: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []logs.Source
			for _, a := range c.args {
				sources = append(sources, logs.ParseSource(a))
			}
			_, err := logs.Read(context.Background(), sources)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestOddFolders: names of folders that a label must not have are shown so that
// nothing follows them.
func TestOddFolders(t *testing.T) {
	dir := folder(t, map[string]string{"=cmd|x\x1b[2J/a.log": "step:1 - a:1\n", "a,\"b\"<&>/a.log": "step:1 - a:2\n"})
	found := read(t, dir+"/=cmd|x\x1b[2J", dir+"/a,\"b\"<&>")
	same(t, table(t, found, logs.Table{Runs: true}), "run,step,a\n./=cmd|x�[2J,1,1\n\"a,\"\"b\"\"<&>\",1,2\n")
}

// TestDamagedPacked: what is before the damage is kept, and it is told.
func TestDamagedPacked(t *testing.T) {
	whole := packed(t, strings.Repeat("step:1 - a:1\n", 3))
	broken := bytes.Clone(whole)
	broken[len(broken)-6] ^= 0xff // the checksum
	found := read(t, folder(t, map[string]string{"x.log.gz": string(broken)}))
	same(t, table(t, found, logs.Table{}), "step,a\n1,1\n")
	same(t, strings.Join(problemsOf(found), "\n"), "x.log.gz:4: the packed file is damaged from here on: gzip: invalid checksum")
	silent := read(t, folder(t, map[string]string{"x.log.gz": "\x1f\x8bnothing that is packed"})).Silent
	if len(silent) != 1 || silent[0].Files != 1 || silent[0].Problem == nil || !strings.Contains(silent[0].Problem.String(), "damaged from here on") {
		t.Errorf("silent: %+v", silent)
	}
}

// TestAppearsLater: a source that is not there is told as such, the others are
// read, and it is read when it comes; a packed file that grew is read again.
func TestAppearsLater(t *testing.T) {
	dir := folder(t, map[string]string{"a/x.log.gz": string(packed(t, "step:1 - a:1\n"))})
	c, err := logs.NewCollection([]logs.Source{{Path: filepath.Join(dir, "later")}, {Path: filepath.Join(dir, "a")}})
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := c.Poll(context.Background()); !changed || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("changed %v, error %v", changed, err)
	}
	same(t, table(t, c.Logs(), logs.Table{}), "step,a\n1,1\n")
	if err := os.MkdirAll(filepath.Join(dir, "later"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"later/y.log": "step:1 - b:2\n", "a/x.log.gz": string(packed(t, "step:1 - a:1\nstep:2 - a:2\n"))} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if changed, err := c.Poll(context.Background()); !changed || err != nil {
		t.Errorf("changed %v, error %v", changed, err)
	}
	same(t, table(t, c.Finish(), logs.Table{Runs: true}), "run,step,a,b\na,1,1,\na,2,2,\nlater,1,,2\n")
}

// TestRotated: a log that is renamed and begun anew while it is read stays one run.
func TestRotated(t *testing.T) {
	dir := folder(t, map[string]string{"x.log": "step:1 - a:1\nstep:2 - a:2\n"})
	c, err := logs.NewCollection([]logs.Source{{Path: dir}})
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range []func() error{
		func() error { return nil },
		func() error { return os.Rename(filepath.Join(dir, "x.log"), filepath.Join(dir, "x.log.1")) },
		func() error { return os.WriteFile(filepath.Join(dir, "x.log"), []byte("step:3 - a:3\n"), 0o644) },
	} {
		if err := act(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Poll(context.Background()); err != nil {
			t.Fatal(err)
		}
		if now := c.Logs(); len(now.Problems) > 0 || len(now.Runs[0].Superseded) > 0 || len(now.Runs[0].Files) != now.Files {
			t.Errorf("files %v, superseded %v, problems %v", now.Runs[0].Files, now.Runs[0].Superseded, now.Problems)
		}
	}
	found := c.Finish()
	same(t, table(t, found, logs.Table{}), "step,a\n1,1\n2,2\n3,3\n")
	if len(found.Problems) > 0 {
		t.Errorf("problems: %v", found.Problems)
	}
}
