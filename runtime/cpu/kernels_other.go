//go:build !amd64

package cpu

// available returns the kernels that this processor runs, the fastest last.
func available() []kernels {
	return []kernels{goKernels{}, portableKernels()}
}
