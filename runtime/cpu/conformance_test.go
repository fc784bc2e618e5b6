package cpu

import (
	"fmt"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/devicetest"
)

func TestConformance(t *testing.T) {
	for _, name := range Kernels() {
		for _, threads := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s/%d", name, threads), func(t *testing.T) {
				open := func() *Device {
					d, err := Open(Options{Threads: threads, Kernels: name})
					if err != nil {
						t.Fatal(err)
					}
					return d
				}
				devicetest.Run(t, func() tensor.Device { return open() })
				devicetest.RunTraining(t, func() tensor.TrainingDevice { return open() })
			})
		}
	}
}
