package hub_test

import "errors"

// isAll says whether err is every one of the targets.
func isAll(err error, targets ...error) bool {
	for _, target := range targets {
		if !errors.Is(err, target) {
			return false
		}
	}
	return true
}
