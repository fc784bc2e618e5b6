package jail

import (
	"path/filepath"
	"testing"
)

func FuzzFetched(f *testing.F) {
	f.Add([]byte("3 a\x00abc5 out/b\x00hello"))
	f.Add([]byte("3 ../a\x00abc"))
	f.Add([]byte("-1 a\x00"))
	f.Add([]byte("99 a\x00abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		total := 0
		for name, content := range fetched(data) {
			total += len(content)
			if !filepath.IsLocal(name) {
				t.Errorf("a file outside the working directory: %q", name)
			}
		}
		if total > len(data) {
			t.Errorf("%d bytes of files from %d", total, len(data))
		}
	})
}

func TestFetchedReadsWhatTheLaneWrites(t *testing.T) {
	files := fetched([]byte("3 a\x00a\x00c0 empty\x00" + "5 out/b\x00hello" + "9 cut\x00hello"))
	if len(files) != 3 || string(files["a"]) != "a\x00c" || string(files["out/b"]) != "hello" || files["empty"] == nil {
		t.Errorf("got %q", files)
	}
}
