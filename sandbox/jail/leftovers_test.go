package jail_test

import (
	"context"
	"testing"

	"github.com/coderl/cr/sandbox/jail"
)

// leftovers are pairs of programs: the first tries to leave something in its
// lane, the second prints what it finds.
var leftovers = []struct{ name, leave, look string }{
	{
		"attribute", "import os\nfor p in ('.', '/tmp', '/dev/shm'):\n    try: os.setxattr(p, 'user.left', b'x')\n    except OSError: pass\n",
		"import os\nprint([p for p in ('.', '/tmp', '/dev/shm') if os.access(p, os.R_OK) and os.listxattr(p)])\n",
	},
	{
		"limit of the lane", "import os, resource\ntry: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))\nexcept OSError: pass\n",
		"import resource\nlimit = resource.getrlimit(resource.RLIMIT_CORE)\nprint([] if limit == (1, 1) else limit)\n",
	},
	{
		"priority of the lane", "import os\nfor who in ((os.PRIO_PROCESS, os.getppid()), (os.PRIO_USER, 0)):\n    try: os.setpriority(*who, 17)\n    except OSError: pass\n",
		"import os\nnice = os.getpriority(os.PRIO_PROCESS, 0)\nprint([nice] if nice == 17 else [])\n",
	},
	{
		"scheduler of the lane", "import os\ntry: os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))\nexcept OSError: pass\n",
		"import os\nprint([os.SCHED_BATCH] if os.sched_getscheduler(0) == os.SCHED_BATCH else [])\n",
	},
	{
		"times of a device", "import os\ntry: os.utime('/dev/null')\nexcept OSError: pass\n",
		"import os, time\nopen('/dev/null', 'w').write('x')\nprint([t for t in (os.stat('/dev/null').st_mtime,) if time.time() - t < 2])\n",
	},
}

// leavesNothing runs the pairs. A pool of one worker has two lanes in turn, so
// the second look is into the lane that the first program ran in.
func leavesNothing(t *testing.T, pool *jail.Pool) {
	for _, row := range leftovers {
		if row.name == "times of a device" && pool.Tier() == jail.T3 {
			continue // Landlock does not guard attributes; docs/sandbox.md says so
		}
		t.Run("left "+row.name, func(t *testing.T) {
			for _, code := range []string{row.leave, row.look, row.look} {
				o, err := pool.Run(context.Background(), jail.Job{Code: []byte(code), Limits: limits})
				switch {
				case err != nil:
					t.Fatal(err)
				case o.ExitCode != 0:
					t.Fatalf("exit %d: %s", o.ExitCode, o.Stderr)
				case code == row.look && string(o.Stdout) != "[]\n":
					t.Errorf("found %s", o.Stdout)
				}
			}
		})
	}
}
