package build

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func cache(t *testing.T, dir string, disk, memory int64) *Cache {
	t.Helper()
	c, err := New(dir, disk, memory)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func program(text string) *Build {
	return &Build{
		OK: true, Stdout: []byte("out"), Stderr: []byte("a warning\n"), Wall: time.Second,
		Files: map[string][]byte{"prog": []byte(text), "a/b.class": {0, '\n', 255}},
	}
}

func TestManyWantOne(t *testing.T) {
	c := cache(t, t.TempDir(), DefaultDisk, DefaultMemory)
	var compilations atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			b, err := c.Get(t.Context(), "key", func(context.Context) (*Build, error) {
				compilations.Add(1)
				return program("x"), nil
			})
			if err != nil || string(b.Files["prog"]) != "x" {
				t.Errorf("build %v, error %v", b, err)
			}
		})
	}
	wg.Wait()
	if n := compilations.Load(); n != 1 {
		t.Errorf("%d compilations", n)
	}
}

func TestAnotherProcessFindsIt(t *testing.T) {
	dir := t.TempDir()
	want := program("x")
	first := func(context.Context) (*Build, error) { return want, nil }
	never := func(context.Context) (*Build, error) { return nil, errors.New("compiled again") }
	if _, err := cache(t, dir, DefaultDisk, 0).Get(t.Context(), "key", first); err != nil {
		t.Fatal(err)
	}
	got, err := cache(t, dir, DefaultDisk, 0).Get(t.Context(), "key", never)
	if err != nil {
		t.Fatal(err)
	}
	same := maps.EqualFunc(got.Files, want.Files, bytes.Equal)
	if !same || !got.OK || string(got.Stderr) != "a warning\n" || string(got.Stdout) != "out" || got.Wall != time.Second {
		t.Errorf("got %+v", got)
	}
}

func TestWhatIsNotKept(t *testing.T) {
	c := cache(t, t.TempDir(), DefaultDisk, DefaultMemory)
	n := 0
	for _, b := range []*Build{{TimedOut: true}, {Killed: true}, {ExitCode: 1}} {
		compile := func(context.Context) (*Build, error) { n++; return b, nil }
		if _, err := c.Get(t.Context(), "key", compile); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Get(t.Context(), "key", func(context.Context) (*Build, error) { n++; return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if n != 3 {
		t.Errorf("compiled %d times; the compile error lasts, time-out and kill do not", n)
	}
}

func TestACancelledLeaderFailsNobodyElse(t *testing.T) {
	c := cache(t, "", 0, DefaultMemory)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := c.Get(ctx, "key", func(ctx context.Context) (*Build, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	<-started
	wg.Go(func() {
		b, err := c.Get(t.Context(), "key", func(context.Context) (*Build, error) { return program("y"), nil })
		if err != nil || !b.OK {
			t.Errorf("build %v, error %v", b, err)
		}
	})
	cancel()
	wg.Wait()
}

func TestDamagedFilesAreCompiledAgain(t *testing.T) {
	dir := t.TempDir()
	c := cache(t, dir, DefaultDisk, 0)
	if _, err := c.Get(t.Context(), "key", func(context.Context) (*Build, error) { return program("x"), nil }); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "key"+suffix)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1]++
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := c.Get(t.Context(), "key", func(context.Context) (*Build, error) { return program("again"), nil })
	if err != nil || string(b.Files["prog"]) != "again" {
		t.Errorf("build %v, error %v", b, err)
	}
}

func TestBothSizesAreBounded(t *testing.T) {
	dir := t.TempDir()
	c := cache(t, dir, 10_000, 5_000)
	for i := range 30 {
		key := Key("program", string(rune('a'+i)))
		if _, err := c.Get(t.Context(), key, func(context.Context) (*Build, error) {
			return program(string(make([]byte, 1000))), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 || len(entries) > 10 {
		t.Errorf("%d files, error %v", len(entries), err)
	}
	if c.recent.size > 5_000 || len(c.recent.at) == 0 || len(c.recent.at) != c.recent.order.Len() {
		t.Errorf("%d bytes, %d builds in memory", c.recent.size, len(c.recent.at))
	}
}

func TestKeysKeepPartsApart(t *testing.T) {
	if Key("ab", "c") == Key("a", "bc") || Key("a") == Key("a", "") {
		t.Error("different parts, one key")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(program("x")))
	f.Add(encode(&Build{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if b := decode(data); b != nil {
			if again := decode(encode(b)); again == nil || len(again.Files) != len(b.Files) {
				t.Errorf("%+v does not survive", b)
			}
		}
	})
}
