package split

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"
)

// golden is testdata/golden.json, written by golden.py with numpy.
type golden struct {
	Cases []struct {
		Seed   uint64 `json:",string"`
		N      int
		Digest uint64 `json:",string"`
	}
	UpTo  int
	Total uint64 `json:",string"`
	First map[int][]uint32
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// digest is golden.py's.
func digest(perm []uint32) (sum uint64) {
	for i, v := range perm {
		sum += (uint64(v) + 1) * ((uint64(i+1) * 0x9e3779b97f4a7c15) ^ 0xd1b54a32d192ed03)
	}
	return sum
}

func TestPermutationIsNumpys(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Cases {
		if got := digest(Permutation(c.Seed, c.N)); got != c.Digest {
			t.Errorf("seed %d, n %d: digest %d, numpy %d", c.Seed, c.N, got, c.Digest)
		}
	}
	for n, first := range g.First {
		if got := Permutation(42, n)[:len(first)]; !slices.Equal(got, first) {
			t.Errorf("n %d begins %v, numpy %v", n, got, first)
		}
	}
}

// CR_TEST_SPLIT=N,TOTAL checks every n up to N against a digest of golden.py 1 N.
func TestEveryN(t *testing.T) {
	g := readGolden(t)
	if env := os.Getenv("CR_TEST_SPLIT"); env != "" {
		if err := json.Unmarshal([]byte("["+env+"]"), &[]any{&g.UpTo, &g.Total}); err != nil {
			t.Fatal(err)
		}
	}
	total := uint64(0)
	for n := 1; n <= g.UpTo; n++ {
		total = total*31 + digest(Permutation(42, n))
	}
	if total != g.Total {
		t.Errorf("permutations of 1..%d: digest %s, numpy %d", g.UpTo, strconv.FormatUint(total, 10), g.Total)
	}
}

func TestTrainTest(t *testing.T) {
	for _, c := range []struct{ n, train, test int }{{0, 0, 0}, {2, 1, 1}, {100, 99, 1}, {101, 99, 2}, {250, 247, 3}} {
		train, test, err := TrainTest(42, c.n, 0.01)
		if err != nil || len(train) != c.train || len(test) != c.test {
			t.Errorf("n %d: %d and %d rows (%v), want %d and %d", c.n, len(train), len(test), err, c.train, c.test)
		}
	}
	if _, test, _ := TrainTest(42, 250, 0.01); !slices.Equal(test, []uint32{120, 50, 54}) {
		t.Errorf("250 rows: validation rows %v, want 120 50 54", test)
	}
	if _, _, err := TrainTest(42, 1, 0.01); !errors.Is(err, ErrNothingToTrain) {
		t.Errorf("one row: %v, want ErrNothingToTrain", err)
	}
}
