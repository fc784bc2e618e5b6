package jail

import (
	"errors"
	"fmt"
	"os"

	"github.com/coderl/cr/sandbox/jail/cgroup"
)

// remedy ends the error of a host that cannot isolate.
const remedy = `run cr as a user who may create user namespaces ` +
	`(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), ` +
	`as root, or in a container started with --cap-add SYS_ADMIN --security-opt seccomp=unconfined ` +
	`--security-opt apparmor=unconfined --security-opt systempaths=unconfined; ` +
	`to run programs without isolation ask for it with --unsafe`

// Open starts a pool with the strongest isolation that works here, found by
// building a lane with it. Without any it fails, unless unsafe is asked for.
func Open(workers int, python *Python, unsafe bool) (*Pool, error) {
	var failed error
	for _, cfg := range candidates(workers, python) {
		if cfg.Tier == T2 && !python.Ctypes {
			failed = fmt.Errorf("%s lacks ctypes, by which jobs give up capabilities", python.Path)
			continue
		}
		if private := python.private(); cfg.Tier == T3 && private != "" {
			failed = fmt.Errorf("%s is closed to the uids that programs run under; choose an interpreter with --python", private)
			continue
		}
		pool, err := NewPool(cfg)
		if err == nil {
			return pool, nil
		}
		if errors.Is(err, ErrPython) {
			return nil, fmt.Errorf("%s: %w", python.Path, err)
		}
		failed = err // that of the weakest tier says best what is missing
	}
	if !unsafe {
		return nil, fmt.Errorf("%w (%w): %s", ErrNoIsolation, failed, remedy)
	}
	return NewPool(Config{Workers: workers, Tier: Unsafe, Python: python})
}

// candidates are the configurations to try, strongest first.
func candidates(workers int, python *Python) []Config {
	user := Config{Workers: workers, Python: python, Tier: T2}
	if os.Geteuid() != 0 {
		return []Config{user}
	}
	root := user
	root.Tier = T2Root
	bare := user
	bare.Tier = T3
	groups, err := cgroup.Find()
	if err != nil {
		return []Config{root, user, bare} // the reason is seen in the tier
	}
	best := root
	best.Groups, best.Tier = groups, T1
	if groups.Unified() {
		best.Tier = T0
	}
	return []Config{best, root, user, bare}
}

// Tier is the isolation that holds.
func (p *Pool) Tier() Tier { return p.cfg.Tier }

// Layers lists what keeps programs apart, for reports.
func (p *Pool) Layers() []string {
	layers := []string{"seccomp", "no_new_privs", "rlimits"}
	if p.cfg.Tier == T3 {
		return append(layers, "landlock", "unique uid")
	}
	if p.cfg.Tier != Unsafe {
		layers = append(layers, "user", "mount", "pid", "net", "ipc", "uts", "cgroup", "read-only root")
	}
	if p.cfg.Tier.privileged() {
		layers = append(layers, "unique uid")
	}
	if p.cfg.Groups != nil {
		layers = append(layers, p.cfg.Groups.Layers()...)
	}
	return layers
}
