package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// turnSeed derives the seed of one request to a server from the run's seed, the
// sample and the turn, so that reruns and resumed runs send the same. It has 31
// bits, which every server's seed field holds.
func turnSeed(s Sampling, turn int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%d", s.Seed, s.Request, turn))
	return int64(binary.LittleEndian.Uint32(sum[:4]) >> 1)
}
