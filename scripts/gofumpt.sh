#!/usr/bin/env bash
# Runs gofumpt over the tree; arguments are gofumpt's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec env -u CGO_LDFLAGS go run mvdan.cc/gofumpt@v0.12.0 "$@"
