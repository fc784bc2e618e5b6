package train

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// initStd is transformers' default initializer_range.
const initStd = 0.02

// random is a source of a new model's weights, as transformers begins one:
// matrices normal with deviation 0.02, norms one, biases zero. Each weight is
// drawn by seed and name alone.
type random struct {
	shapes map[string][]int
	seed   uint64
}

// newRandom makes the source for a config.
func newRandom(c model.Config, seed uint64) (random, error) {
	shapes := shapesOf{}
	_, err := model.NewDecoder[[]int](c, shapes)
	return random{shapes: shapes, seed: seed}, err
}

// shapesOf collects the shapes of a decoder's weights.
type shapesOf map[string][]int

// Has implements [model.Weights]: a new Llama with biases has all of them.
func (s shapesOf) Has(string) bool { return true }

// Weight implements [model.Weights].
func (s shapesOf) Weight(name string, shape ...int) ([]int, error) {
	s[name] = shape
	return shape, nil
}

// Has implements [model.Source].
func (r random) Has(name string) bool { _, ok := r.shapes[name]; return ok }

// Tensor implements [model.Source].
func (r random) Tensor(name string) (tensor.Host, error) {
	shape, ok := r.shapes[name]
	if !ok {
		return tensor.Host{}, fmt.Errorf("a new model has no weight %s", name)
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	switch {
	case strings.HasSuffix(name, "norm.weight"):
		for i := range values {
			values[i] = 1
		}
	case len(shape) > 1:
		fillNormal(values, initStd, r.seed, name)
	}
	data := make([]byte, 4*n)
	reference.Encode(data, tensor.F32, values)
	return tensor.Host{DType: tensor.F32, Shape: shape, Data: data}, nil
}

// generator draws for one tensor: its values depend on seed and name alone.
func generator(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash never fails
	return rand.NewPCG(seed, h.Sum64())
}

// fraction is the next draw in [0, 1).
func fraction(g *rand.PCG) float64 { return float64(g.Uint64()>>11) / (1 << 53) }

// fillUniform draws within ±bound.
func fillUniform(values []float32, bound float64, seed uint64, name string) {
	g := generator(seed, name)
	for i := range values {
		values[i] = float32((2*fraction(g) - 1) * bound)
	}
}

// fillNormal draws normal values by Box and Muller's transform: rand's own are
// not promised to stay the same from one release of Go to the next.
func fillNormal(values []float32, deviation float64, seed uint64, name string) {
	g := generator(seed, name)
	for i := range values {
		radius := math.Sqrt(-2 * math.Log(1-fraction(g)))
		values[i] = float32(deviation * radius * math.Cos(2*math.Pi*fraction(g)))
	}
}
