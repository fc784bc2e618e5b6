// Package split divides rows into training and validation rows exactly as
// numpy and Hugging Face's datasets do for the same seed.
package split

import "math/bits"

// pcg64 is numpy's default generator: PCG XSL-RR 128/64 (O'Neill 2014).
type pcg64 struct {
	hi, lo       uint64 // state
	incHi, incLo uint64
	half         uint32 // the upper half of a draw that was used by half
	hasHalf      bool
}

// newPCG64 seeds as numpy.random.default_rng(seed) does.
func newPCG64(seed uint64) *pcg64 {
	words := seedWords(seed)
	state, sequence := [2]uint64{words[0], words[1]}, [2]uint64{words[2], words[3]}
	g := &pcg64{
		incHi: sequence[0]<<1 | sequence[1]>>63,
		incLo: sequence[1]<<1 | 1,
	}
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, state[1], 0)
	g.hi, _ = bits.Add64(g.hi, state[0], carry)
	g.step()
	return g
}

// The multiplier of PCG's 128-bit congruential step.
const (
	multiplierHi = 2549297995355413924
	multiplierLo = 4865540595714422341
)

func (g *pcg64) step() {
	hi, lo := bits.Mul64(g.lo, multiplierLo)
	hi += g.hi*multiplierLo + g.lo*multiplierHi
	var carry uint64
	g.lo, carry = bits.Add64(lo, g.incLo, 0)
	g.hi, _ = bits.Add64(hi, g.incHi, carry)
}

func (g *pcg64) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

func (g *pcg64) uint32() uint32 {
	if g.hasHalf {
		g.hasHalf = false
		return g.half
	}
	n := g.uint64()
	g.half, g.hasHalf = uint32(n>>32), true
	return uint32(n)
}

// upTo draws from 0..limit by masked rejection, as numpy's shuffle does.
func (g *pcg64) upTo(limit uint32) uint32 {
	mask := uint32(1)<<bits.Len32(limit) - 1
	for {
		if n := g.uint32() & mask; n <= limit {
			return n
		}
	}
}

// Constants of numpy's SeedSequence (O'Neill's seed_seq_fe).
const (
	initA, multA = 0x43b0d7e5, 0x931e8875
	initB, multB = 0x8b51f9dd, 0x58f38ded
	mixLeft      = 0xca01f9dd
	mixRight     = 0x4973f715
	poolSize     = 4
)

// seedWords is SeedSequence(seed).generate_state(4, uint64).
func seedWords(seed uint64) [4]uint64 {
	pool := seedPool([2]uint32{uint32(seed), uint32(seed >> 32)})
	var words [4]uint64
	h := uint32(initB)
	for i := range 2 * len(words) {
		v := pool[i%poolSize] ^ h
		h *= multB
		v *= h
		v ^= v >> 16
		words[i/2] |= uint64(v) << (32 * (i % 2))
	}
	return words
}

func seedPool(entropy [2]uint32) [poolSize]uint32 {
	h := uint32(initA)
	hash := func(v uint32) uint32 {
		v ^= h
		h *= multA
		v *= h
		return v ^ v>>16
	}
	var pool [poolSize]uint32
	for i := range pool {
		v := uint32(0)
		if i < len(entropy) {
			v = entropy[i]
		}
		pool[i] = hash(v)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				v := mixLeft*pool[to] - mixRight*hash(pool[from])
				pool[to] = v ^ v>>16
			}
		}
	}
	return pool
}
