package sandbox_test

import (
	"context"
	"testing"

	"github.com/coderl/cr/sandbox"
)

func TestHello(t *testing.T) {
	l, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(l.Isolation())
	for range 3 {
		r, err := l.Run(context.Background(), sandbox.Job{Language: "python", Code: "import os\nprint(int(input())*2, os.getpid(), os.getuid(), os.listdir('/'))\n", Stdin: []byte("21\n")})
		t.Logf("%+v %v %s %s", r, err, r.Stdout, r.Stderr)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
