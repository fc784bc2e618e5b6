#!/usr/bin/env bash
# golangci-lint with the layer rules, installed for this checkout only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=v2.15.0
tool=build/tools/bin/golangci-lint
if [[ ! -x $tool ]] || ! "$tool" version 2>/dev/null | grep -qF "${version#v}"; then
  echo "building golangci-lint $version into build/tools (once, a few minutes)" >&2
  env -u CGO_LDFLAGS GOBIN="$PWD/build/tools/bin" go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
exec "$tool" run --allow-parallel-runners ./...
