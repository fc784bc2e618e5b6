package atomicfile

import (
	"os"
	"syscall"
)

// syncFileRangeWrite is SYNC_FILE_RANGE_WRITE: begin, and do not wait.
const syncFileRangeWrite = 2

// beginWriteback is advice. A file system that does not take it, or a disk that
// fails, is found out by the sync at the end.
func beginWriteback(file *os.File, offset, size int64) {
	_ = syscall.SyncFileRange(int(file.Fd()), offset, size, syncFileRangeWrite)
}
