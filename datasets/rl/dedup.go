package rl

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// statementKey stands for a normalised statement.
type statementKey [16]byte

// keyOf normalises a statement: compatibility characters, case and white space
// make no difference.
func keyOf(prompt *string) (key statementKey) {
	if prompt == nil {
		return key
	}
	folded := cases.Fold().String(norm.NFKC.String(*prompt))
	digest := sha256.New()
	for word := range strings.FieldsSeq(folded) {
		// A hash cannot fail to be written to.
		_, _ = digest.Write([]byte(word + " "))
	}
	copy(key[:], digest.Sum(nil))
	return key
}

// dropDuplicates keeps the first of rows with equal statements.
func (f *findings) dropDuplicates(b *build) error {
	first := make(map[statementKey]int, len(f.kept))
	return f.filter(b, func(i int) *drop {
		k := f.kept[i]
		if row, ok := first[k.key]; ok {
			return &drop{Duplicate, fmt.Sprintf("the statement of row %d", row)}
		}
		first[k.key] = k.row
		return nil
	})
}
