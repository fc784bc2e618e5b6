package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the problems
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

//go:embed bundled/problems.jsonl
var bundledProblems []byte

// Bundled returns the problems shipped inside cr: twenty of its own, trivial to
// medium, in LiveCodeBench's schema. They are no part of LiveCodeBench.
func Bundled() (Set, error) {
	sum := sha256.Sum256(bundledProblems)
	s := Set{Name: "bundled", SHA256: hex.EncodeToString(sum[:])}
	err := eachLine(context.Background(), bytes.NewReader(bundledProblems), func(_ int, line []byte) error {
		r, err := parseRecord(line)
		if err != nil {
			return err
		}
		p, err := r.problem()
		if err != nil {
			return err
		}
		s.Problems = append(s.Problems, p)
		return checkFunctional(p)
	})
	if err != nil {
		return Set{}, fmt.Errorf("bundled problems: %w", err)
	}
	slices.SortFunc(s.Problems, func(a, b Problem) int { return strings.Compare(a.ID, b.ID) })
	return s, nil
}
