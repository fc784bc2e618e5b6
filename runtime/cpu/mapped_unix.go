//go:build unix

package cpu

import "golang.org/x/sys/unix"

// mapFrom is the size from which allocations come from the system instead of
// the Go heap. A KV cache of gigabytes on the heap would let garbage grow to the
// same size before each collection, and its pages would be touched before use.
const mapFrom = 1 << 20

// mapped gives m n zeroed bytes of anonymous memory, which become real as they
// are touched.
func (d *Device) mapped(m *memory, n int) error {
	data, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	m.data = data
	if d.maps == nil {
		d.maps = map[*memory]struct{}{}
	}
	d.maps[m] = struct{}{}
	return nil
}

// unmap returns m to the system if it came from there.
func (d *Device) unmap(m *memory) {
	if _, ok := d.maps[m]; ok {
		delete(d.maps, m)
		_ = unix.Munmap(m.data) // fails only for an address that Mmap did not give
	}
}
