// Package reference computes every operation of a [tensor.Device] in plain Go,
// one loop a formula, on host slices. It is what fast kernels are compared
// with, and what runs where there is none. Sums are taken in float64, so its
// own rounding stays out of such comparisons.
//
// Matrices are row-major. Operands are taken as checked (tensor.CheckMatMul and
// its like); every function computes a row from that row's inputs alone.
package reference
