#!/usr/bin/env bash
# Prints the version that `cr --version` shows: the tag, or the commit.
set -euo pipefail
git describe --tags --always --dirty 2>/dev/null || echo unknown
