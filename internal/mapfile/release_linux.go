package mapfile

import "syscall"

func releaseBytes(data []byte) error { return syscall.Madvise(data, syscall.MADV_DONTNEED) }
