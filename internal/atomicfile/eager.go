package atomicfile

import "os"

// eagerBytes is how much is written before the disk is told to begin with it.
const eagerBytes = 8 << 20

// eagerWriter has the disk work while a file is still being made: what is left
// for the final sync, for which everybody waits, is then little.
type eagerWriter struct {
	file    *os.File
	written int64
	begun   int64 // of written, on its way to the disk
}

func (w *eagerWriter) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	w.written += int64(n)
	if w.written-w.begun >= eagerBytes {
		beginWriteback(w.file, w.begun, w.written-w.begun)
		w.begun = w.written
	}
	return n, err
}
