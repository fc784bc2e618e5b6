package verl

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Script is the shell script that runs the plan; its arguments are further
// overrides.
func (p Plan) Script() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#!/usr/bin/env bash\n# %s of verl %s, written by cr train --engine verl.\n", p.Module, p.Version)
	for _, note := range p.Notes {
		fmt.Fprintf(&b, "# Note: %s.\n", note)
	}
	b.WriteString("set -euo pipefail\n")
	if p.Config == ppo {
		b.WriteString("cd \"$(dirname \"$0\")\"\nexport PYTHONPATH=\"$PWD${PYTHONPATH:+:$PYTHONPATH}\"\n")
	}
	if p.Device == "npu" {
		b.WriteString(ascendSetup)
	}
	for _, v := range p.Env {
		fmt.Fprintf(&b, "export %s=%s\n", v.Name, shell(v.Value))
	}
	if len(p.Patches) > 0 {
		b.WriteString("bash \"$(dirname \"$0\")/patch.sh\"\n")
	}
	b.WriteString("exec")
	for _, word := range append(p.Launcher, p.Module) {
		fmt.Fprintf(&b, " %s", launcherWord(word))
	}
	for _, o := range p.Overrides {
		fmt.Fprintf(&b, " \\\n    %s", shell(o.String()))
	}
	b.WriteString(" \\\n    \"$@\"\n")
	return b.Bytes()
}

// ascendSetup reads the vendor's environment, where it is installed; its scripts
// use variables that may be unset.
const ascendSetup = `for setup in /usr/local/Ascend/ascend-toolkit/set_env.sh /usr/local/Ascend/nnal/atb/set_env.sh; do
    if [ -f "$setup" ]; then set +u; source "$setup"; set -u; fi
done
`

// patchScript applies the user's patches to the installed verl, each once.
const patchScript = `#!/usr/bin/env bash
# Applies patches/ to the packages of this Python; run it once on every machine.
set -euo pipefail
cd "$(dirname "$0")"
site=$(python3 -c 'import importlib.util as u, os; print(os.path.dirname(os.path.dirname(u.find_spec("verl").origin)))')
for patch in patches/*; do
    if patch --directory="$site" --strip=1 --reverse --dry-run --force --silent < "$patch" > /dev/null 2>&1; then
        continue # it is there
    fi
    if ! patch --directory="$site" --strip=1 --forward --dry-run --force < "$patch"; then
        echo "patch.sh: $patch does not apply to the packages in $site; nothing of it was changed" >&2
        exit 1
    fi
    patch --directory="$site" --strip=1 --forward --force --no-backup-if-mismatch < "$patch"
done
`

// clusterScript starts Ray on a machine. Ray counts GPUs itself; NPUs it is told.
func (p Plan) clusterScript() []byte {
	resources := ""
	if p.Device == "npu" {
		resources = fmt.Sprintf(` --resources='{"NPU": %d}'`, p.Devices)
	}
	var exports strings.Builder
	for _, v := range p.Env {
		fmt.Fprintf(&exports, "export %s=%s\n", v.Name, shell(v.Value))
	}
	return fmt.Appendf(nil, `#!/usr/bin/env bash
# Starts Ray on one of %d machines: bash cluster.sh head, or bash cluster.sh worker HEAD_ADDRESS.
set -euo pipefail
ulimit -n 32768 || true
%scase "${1:-}" in
head) exec ray start --head --port=6766 --dashboard-host=0.0.0.0%s ;;
worker) exec ray start --address="${2:?address of the head}:6766"%s ;;
*) echo "usage: bash cluster.sh head | worker HEAD_ADDRESS" >&2; exit 2 ;;
esac
`, p.Nodes, exports.String(), resources, resources)
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shell quotes a word.
func shell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// launcherWord is a word of the launcher, in which variables are meant.
func launcherWord(word string) string {
	if strings.Contains(word, "$") {
		return `"` + word + `"`
	}
	return shell(word)
}
