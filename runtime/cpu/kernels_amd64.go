package cpu

// #include "kernels.h"
import "C"

import "golang.org/x/sys/cpu"

// available returns the kernels that this processor runs, the fastest last.
func available() []kernels {
	all := []kernels{goKernels{}, portableKernels()}
	x := cpu.X86
	if x.HasAVX2 && x.HasFMA && x.HasF16C {
		all = append(all, newCKernels("avx2", &C.cr_kernels_avx2))
	}
	if x.HasFMA && x.HasF16C && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		all = append(all, newCKernels("avx512", &C.cr_kernels_avx512))
	}
	return all
}
