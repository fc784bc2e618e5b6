//go:build unix

package mapfile

import (
	"os"
	"syscall"
)

func mapBytes(file *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapBytes(data []byte) error { return syscall.Munmap(data) }
