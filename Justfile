set shell := ["bash", "-euo", "pipefail", "-c"]

# Outside test data; tests that need it skip, and say so, where it is absent.
export CR_TEST_DATA := env("CR_TEST_DATA", if path_exists(justfile_directory() / "../shared/data") == "true" { justfile_directory() / "../shared/data" } else { "" })
# A real model for tests of real weights: the demo's, once `just demo` fetched it.
export CR_TEST_MODEL := env("CR_TEST_MODEL", if path_exists(demo_model) == "true" { demo_model } else { "" })
export CGO_ENABLED := "1"
export CGO_LDFLAGS := "-L" + justfile_directory() / "build/lib"
demo_model := justfile_directory() / "build/demo/SmolLM2-135M-Instruct.Q4_1.gguf"

# List the recipes.
@_help:
    {{ just_executable() }} --list --unsorted --justfile {{ justfile() }}

# The shipped model solves small tasks with a code tool, judged in the sandbox.
demo: build
    scripts/demo.sh

# The same with a real small model, fetched once (93 MB).
demo-real: build _demo-model
    scripts/demo-real.sh {{ demo_model }}

# A few minutes of reinforcement learning on the shipped model, and its curve.
demo-train dir='runs/demo-train' steps='40': build
    scripts/demo-train.sh {{ dir }} {{ steps }}

# Every test. Those that need outside data or a model skip without it, counted at the end.
test *args: _deps
    scripts/test.sh {{ args }}

# The binary: bin/cr.
build: _deps
    go build -trimpath -ldflags "-s -w -X main.version=$(scripts/version.sh)" -o bin/cr ./cmd/cr

# Format, vet, and the layer rules.
lint: _deps
    scripts/lint.sh

# Rewrite the files as the formatter wants them.
fmt:
    scripts/gofumpt.sh -w .

# The shipped model again from nothing, in `dir`.
train-tiny dir='build/tiny': build
    scripts/train-tiny.sh {{ dir }}

# Benchmarks, each beside its peer: `just bench engine`, `just bench sandbox`.
bench what='engine': build _demo-model
    scripts/bench-{{ what }}.sh {{ demo_model }}

# Fuzz every parser of outside bytes, each for the given time: `just fuzz 10m datasets`.
fuzz time='60s' *dirs: _deps
    scripts/fuzz.sh {{ time }} {{ dirs }}

# Remove what the recipes built; downloads stay in build/demo.
clean:
    rm -rf bin build/lib build/tokenizers

_deps:
    @scripts/deps.sh

_demo-model:
    @scripts/demo-model.sh {{ demo_model }}
