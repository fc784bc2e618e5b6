//go:build !unix

package cpu

import "math"

// mapFrom: the Go heap serves every size here.
const mapFrom = math.MaxInt

func (d *Device) mapped(m *memory, n int) error {
	m.data = alignedBytes(n)
	return nil
}

func (d *Device) unmap(*memory) {}
