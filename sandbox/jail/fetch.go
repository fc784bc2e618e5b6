package jail

import (
	"bytes"
	"path/filepath"
	"strconv"
)

// fetchLimit bounds the files that one job brings back, and their names.
const fetchLimit = 64 << 20

// fetched reads the files that a job sent back: "SIZE NAME", a zero byte, the
// bytes, and so on. The program may have written them itself, so what does not
// fit the form ends the list, and a name must stay below the working directory.
func fetched(data []byte) map[string][]byte {
	var files map[string][]byte
	for len(data) > 0 {
		head, rest, found := bytes.Cut(data, []byte{0})
		size, name, spaced := bytes.Cut(head, []byte{' '})
		n, err := strconv.Atoi(string(size))
		if !found || !spaced || err != nil || n < 0 || n > len(rest) || !filepath.IsLocal(string(name)) {
			return files
		}
		if files == nil {
			files = map[string][]byte{}
		}
		files[string(name)], data = rest[:n:n], rest[n:]
	}
	return files
}
