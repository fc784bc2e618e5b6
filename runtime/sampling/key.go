package sampling

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Key is the Philox key of one request: the first 128 bits of
// SHA-256(seed as 8 little-endian bytes ‖ request). The draw at position p is
// the first word of Philox4x64-10 with this key and counter (p, 0, 0, 0), its
// top 53 bits as a fraction.
func Key(seed uint64, request string) [2]uint64 {
	hash := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), request...))
	return [2]uint64{binary.LittleEndian.Uint64(hash[:8]), binary.LittleEndian.Uint64(hash[8:16])}
}

// uniform is the draw in [0, 1) at a position.
func uniform(key [2]uint64, position uint64) float64 {
	const fraction = 1.0 / (1 << 53)
	return float64(philox([4]uint64{position}, key)[0]>>11) * fraction
}

// philox is Philox4x64 with ten rounds (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011).
func philox(counter [4]uint64, key [2]uint64) [4]uint64 {
	const (
		multiply0, multiply1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
		weyl0, weyl1         = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
	)
	for range 10 {
		high0, low0 := bits.Mul64(multiply0, counter[0])
		high1, low1 := bits.Mul64(multiply1, counter[2])
		counter = [4]uint64{high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0}
		key[0] += weyl0
		key[1] += weyl1
	}
	return counter
}
