package tinytasks

import (
	"os"
	"testing"

	"github.com/coderl/cr/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}
