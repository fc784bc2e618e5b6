package pickle

import (
	"fmt"
	"math/big"
)

// Describe names a value for an error. Containers are named by their length
// alone: printed whole, those that share their parts would have no end.
func Describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool, int64, float64:
		return fmt.Sprint(v)
	case *big.Int:
		return fmt.Sprintf("an integer of %d bits", v.BitLen())
	case string:
		return fmt.Sprintf("%.80q", v)
	case Bytes:
		return fmt.Sprintf("%d bytes", len(v))
	case Tuple:
		return fmt.Sprintf("a tuple of %d", len(v))
	case *List:
		return fmt.Sprintf("a list of %d", len(v.Items))
	case *Dict:
		return fmt.Sprintf("a dict of %d", len(v.Items))
	case Global:
		return fmt.Sprintf("%.80q", v.Module+"."+v.Name)
	default:
		return fmt.Sprintf("a %T", v)
	}
}
