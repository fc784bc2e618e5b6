package lang

import (
	"slices"
	"time"
)

// Table returns all languages. A caller may change its copy.
func Table() []Language {
	return slices.Concat(scripts(), native(), managed(), modes())
}

// scripts are languages that run from source.
func scripts() []Language {
	return []Language{
		{
			Name: "python", Aliases: []string{"python3", "py"}, Source: "main.py", Extensions: []string{".py"},
		},
		{
			Name: "javascript", Aliases: []string{"nodejs", "node", "js"}, Source: "main.js", Extensions: []string{".js"},
			Chains: []Chain{node("main.js", nil, nil, "nodejs", nil)},
		},
		{
			Name: "typescript", Aliases: []string{"ts"}, Source: "main.ts", Extensions: []string{".ts"}, Headers: []string{".ts"},
			// Types are stripped, not checked, as tsx does.
			Chains: []Chain{
				node("main.js", []string{"esbuild"}, []string{
					"esbuild", "main.ts", "--outfile=out/main.js", "--format=cjs", "--platform=node", "--log-level=warning",
				}, "nodejs esbuild", []string{"esbuild", "--version"}),
				node("main.js", []string{"tsc"}, []string{
					"tsc", "--outDir", "out", "--target", "es2021", "--module", "commonjs", "--skipLibCheck", "main.ts",
				}, "nodejs node-typescript", []string{"tsc", "--version"}),
			},
		},
		{
			Name: "bash", Aliases: []string{"sh", "shell"}, Source: "main.sh", Extensions: []string{".sh"},
			Chains: []Chain{{
				Tools: []string{"bash"}, Install: "bash", Version: []string{"bash", "--version"},
				Run: []string{"bash", "main.sh"},
			}},
		},
		{
			Name: "php", Source: "main.php", Extensions: []string{".php"},
			Chains: []Chain{{
				Tools: []string{"php"}, Install: "php-cli", Version: []string{"php", "--version"}, Show: []string{"/etc/php"},
				Run:      []string{"php", "-d", "memory_limit=-1", "-d", "display_errors=stderr", "-f", "main.php", "--"},
				NoMemory: []string{"Out of memory", "Allowed memory size"},
			}},
		},
		{
			Name: "ruby", Aliases: []string{"rb"}, Source: "main.rb", Extensions: []string{".rb"},
			Chains: []Chain{{
				Tools: []string{"ruby"}, Install: "ruby", Version: []string{"ruby", "--version"},
				Run: []string{"ruby", "main.rb"}, Threads: 4, NoMemory: []string{"NoMemoryError"},
			}},
		},
		{
			Name: "perl", Aliases: []string{"pl"}, Source: "main.pl", Extensions: []string{".pl"},
			Chains: []Chain{{
				Tools: []string{"perl"}, Install: "perl", Version: []string{"perl", "--version"}, Show: []string{"/etc/perl"},
				Run: []string{"perl", "main.pl"}, NoMemory: []string{"Out of memory!"},
			}},
		},
		{
			Name: "lua", Source: "main.lua", Extensions: []string{".lua"},
			Chains: []Chain{lua("lua5.4"), lua("lua5.3"), lua("lua")},
		},
		{
			Name: "r", Source: "main.R", Extensions: []string{".R", ".r"},
			Chains: []Chain{{
				Tools: []string{"Rscript"}, Install: "r-base-core", Version: []string{"Rscript", "--version"},
				Show: []string{"/etc/R"}, Run: []string{"Rscript", "main.R"}, Threads: 4,
				NoMemory: []string{"cannot allocate vector"},
			}},
		},
		{
			Name: "julia", Aliases: []string{"jl"}, Source: "main.jl", Extensions: []string{".jl"},
			Chains: []Chain{{
				Tools: []string{"julia"}, Install: "Julia from julialang.org", Version: []string{"julia", "--version"},
				Run:     []string{"julia", "--startup-file=no", "--history-file=no", "main.jl"},
				Threads: 8, Sparse: true, NoMemory: []string{"OutOfMemoryError"}, Untested: true,
			}},
		},
		{
			Name: "racket", Aliases: []string{"rkt"}, Source: "main.rkt", Extensions: []string{".rkt"},
			Chains: []Chain{{
				Tools: []string{"racket"}, Install: "racket", Version: []string{"racket", "--version"},
				Show: []string{"/etc/racket"}, Run: []string{"racket", "main.rkt"},
				Threads: 4, Sparse: true, NoMemory: []string{"out of memory"},
			}},
		},
	}
}

// node is a chain that ends in Node; compile, with its tools, may come before.
func node(file string, tools, compile []string, install string, version []string) Chain {
	if version == nil {
		version = []string{"node", "--version"}
	}
	return Chain{
		Tools: append([]string{"node"}, tools...), Install: install, Version: version, Compile: compile,
		Env:     []string{"NODE_PATH=/usr/share/nodejs:/usr/lib/node_modules:/usr/local/lib/node_modules"}, // what the host installed for all
		Run:     []string{"node", "--max-old-space-size={memory}", "--stack-size=60000", file},
		Threads: 16, Sparse: true, NoMemory: []string{"JavaScript heap out of memory", "Array buffer allocation failed"},
	}
}

func lua(tool string) Chain {
	return Chain{
		Tools: []string{tool}, Install: "lua5.4", Version: []string{tool, "-v"},
		Run: []string{tool, "main.lua"}, NoMemory: []string{"not enough memory"},
	}
}

// modes are ways to run the tests that come inside a program.
func modes() []Language {
	return []Language{
		{
			Name: "pytest", Source: "test_main.py",
			Chains: []Chain{{
				Tools: []string{"{python}"}, Install: "python3-pytest (for the interpreter in use: pip install pytest)",
				Version: []string{"{python}", "-m", "pytest", "--version"},
				Run:     []string{"{python}", "-m", "pytest", "-p", "no:cacheprovider", "test_main.py"},
			}},
		},
		{
			Name: "go_test", Source: "main_test.go",
			Chains: []Chain{goChain(nil, []string{"go", "test", "-vet=off", "main_test.go"})},
		},
		{
			Name: "d_ut", Source: "main.d",
			Chains: []Chain{
				dChain("dmd", "gdc, or ldc", "dmd", "-O", "-unittest", "-of=out/prog", "main.d"),
				dChain("ldc2", "ldc", "ldc2", "-O", "-unittest", "-of=out/prog", "main.d"),
				dChain("gdc", "gdc", "gdc", "-O2", "-funittest", "-o", "out/prog", "main.d"),
			},
		},
		{
			Name: "kotlin_script", Aliases: []string{"kts"}, Source: "main.kts", Extensions: []string{".kts"},
			Chains: []Chain{kotlin(nil, []string{"kotlinc", "-script", "main.kts"})},
		},
		{
			Name: "verilog", Source: "main.sv", Extensions: []string{".sv", ".v"},
			Chains: []Chain{{
				Tools: []string{"iverilog", "vvp"}, Install: "iverilog", Version: []string{"iverilog", "-V"},
				Compile: []string{"iverilog", "-Wall", "-Winfloop", "-Wno-timescale", "-g2012", "-s", "tb", "-o", "out/test.vvp", "main.sv"},
				Run:     []string{"vvp", "-n", "test.vvp"},
			}},
		},
	}
}

// slow is the bound for compilers that take seconds for a line.
const slow = 60 * time.Second
