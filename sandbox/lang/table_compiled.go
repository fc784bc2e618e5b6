package lang

import (
	"slices"
	"strings"
)

// native are languages whose programs become machine code.
func native() []Language {
	return []Language{
		{
			Name: "c", Source: "main.c", Extensions: []string{".c"}, Headers: []string{".h"},
			Chains: []Chain{gnu("gcc", "gcc libc6-dev", "gcc", "-std=gnu17", "-O2", "-pthread", "-o", "out/prog", "main.c", "-lm")},
		},
		{
			Name: "cpp", Aliases: []string{"c++", "cxx", "cc"}, Source: "main.cpp",
			Extensions: []string{".cpp", ".cc", ".cxx"}, Headers: []string{".h", ".hpp", ".hh"},
			Chains: []Chain{precompiled(gnu("g++", "g++", "g++", "-std=c++17", "-O2", "-pthread", "-I{prepared}", "-o", "out/prog", "main.cpp"))},
		},
		{
			Name: "go", Aliases: []string{"golang"}, Source: "main.go", Extensions: []string{".go"}, Headers: []string{".go"},
			Chains: []Chain{goChain([]string{"go", "build", "-o", "out/prog", "main.go"}, []string{"./prog"})},
		},
		{
			Name: "rust", Aliases: []string{"rs"}, Source: "main.rs", Extensions: []string{".rs"}, Headers: []string{".rs"},
			Chains: []Chain{{
				Tools: []string{"rustc"}, Install: "rustc", Version: []string{"rustc", "--version"},
				Home:    []string{"rustc", "--print", "sysroot"},
				Compile: []string{"rustc", "--edition=2021", "-Copt-level=2", "-o", "out/prog", "main.rs"},
				Run:     []string{"./prog"}, CompileTime: slow,
				NoMemory: []string{"memory allocation of"},
			}},
		},
		{
			Name: "d", Aliases: []string{"dlang"}, Source: "main.d", Extensions: []string{".d"}, Headers: []string{".d"},
			Chains: []Chain{
				dChain("dmd", "gdc, or ldc", "dmd", "-O", "-of=out/prog", "main.d"),
				dChain("ldc2", "ldc", "ldc2", "-O", "-of=out/prog", "main.d"),
				dChain("gdc", "gdc", "gdc", "-O2", "-o", "out/prog", "main.d"),
			},
		},
		{
			Name: "swift", Source: "main.swift", Extensions: []string{".swift"},
			Chains: []Chain{{
				Tools: []string{"swiftc"}, Install: "Swift from swift.org", Version: []string{"swiftc", "--version"},
				Compile: []string{"swiftc", "-O", "main.swift", "-o", "out/prog"},
				Run:     []string{"./prog"}, CompileTime: slow, Threads: 4, Untested: true,
			}},
		},
	}
}

// gnu is a chain of the GNU compilers.
func gnu(tool, install string, compile ...string) Chain {
	return Chain{
		Tools: []string{tool}, Install: install, Version: []string{tool, "--version"},
		Compile: compile, Run: []string{"./prog"}, NoMemory: []string{"std::bad_alloc"},
	}
}

// precompiled makes the header that most competitors include cost a quarter. The
// compiler uses what was made only under the same flags; without the header, as
// outside the GNU library, nothing is made and nothing lost.
func precompiled(c Chain) Chain {
	c.Prepare = []string{"/bin/sh", "-c", "mkdir {prepared}/bits && cd {prepared} && " +
		"echo '#include <bits/stdc++.h>' > all.h && g++ -std=c++17 -O2 -pthread -x c++-header all.h -o bits/stdc++.h.gch || :"}
	return c
}

func dChain(tool, install string, compile ...string) Chain {
	return Chain{
		Tools: []string{tool}, Install: install, Version: []string{tool, "--version"},
		Compile: compile, Run: []string{"./prog"}, CompileTime: slow, NoMemory: []string{"OutOfMemoryError"},
		Untested: tool != "gdc",
	}
}

// goChain compiles against packages of the standard library that were compiled
// once: Go ships them as source.
func goChain(compile, run []string) Chain {
	return Chain{
		Tools: []string{"go"}, Install: "golang-go", Version: []string{"go", "version"}, Home: []string{"go", "env", "GOROOT"},
		Env: []string{
			"GOCACHE={prepared}", "GOPATH=/tmp/go", "GOPROXY=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off",
			"GOFLAGS=", "GOENV=off", "CGO_ENABLED=0", "GO111MODULE=off",
		},
		Prepare: []string{
			"go", "build", "bufio", "bytes", "cmp", "container/heap", "container/list", "container/ring",
			"context", "encoding/binary", "encoding/hex", "encoding/json", "errors", "flag", "fmt", "hash/fnv",
			"io", "iter", "log", "maps", "math", "math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2",
			"os", "os/signal", "reflect", "regexp", "runtime", "runtime/debug", "slices", "sort", "strconv", "strings", "sync",
			"sync/atomic", "testing", "text/tabwriter", "text/template", "time", "unicode", "unicode/utf8", "unsafe",
			"crypto/md5", "crypto/sha1", "crypto/sha256", "testing/internal/testdeps",
		},
		Compile: compile, Run: run, CompileTime: slow, Threads: 24, Sparse: true,
		NoMemory: []string{"runtime: out of memory"},
	}
}

// managed are languages whose programs become code of a virtual machine.
func managed() []Language {
	return []Language{
		{
			Name: "java", Source: "Main.java", Extensions: []string{".java"}, Headers: []string{".java"},
			Chains: []Chain{jvm(Chain{
				Tools: []string{"javac", "java"}, Install: "default-jdk-headless", Version: []string{"javac", "-version"},
				Compile: []string{"javac", "-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-encoding", "UTF-8", "-d", "out", "Main.java"},
				Run:     java("-ea", "-cp", ".", "Main"),
			})},
		},
		{
			Name: "kotlin", Aliases: []string{"kt"}, Source: "main.kt", Extensions: []string{".kt"}, Headers: []string{".kt"},
			Chains: []Chain{kotlin(
				[]string{"kotlinc", "main.kt", "-include-runtime", "-d", "out/prog.jar"},
				java("-jar", "prog.jar"),
			)},
		},
		{
			Name: "scala", Source: "main.scala", Extensions: []string{".scala"}, Headers: []string{".scala"},
			Entry: `(?m)^([ \t]*)object\s+(\w+)`,
			Chains: []Chain{jvm(Chain{
				Tools: []string{"scalac", "scala", "java"}, Install: "scala", Version: []string{"scalac", "-version"},
				Compile: []string{"scalac", "-d", "out", "main.scala"},
				Run:     []string{"scala", "-nc", "-cp", ".", "{entry}"},
			})},
		},
		{
			Name: "csharp", Aliases: []string{"c#", "cs"}, Source: "main.cs", Extensions: []string{".cs"},
			Chains: []Chain{{
				Tools:   []string{"mcs", "mono"},
				Install: "mono-mcs libmono-system-core4.0-cil libmono-system-numerics4.0-cil",
				Version: []string{"mcs", "--version"}, Show: []string{"/etc/mono"},
				// Modern compilers import these by themselves, and programs rely on it.
				Lead: "using System; using System.Collections.Generic; using System.IO; using System.Linq; " +
					"using System.Threading; using System.Threading.Tasks; ",
				LeadNot: `(?m)^\s*(#\s*(define|undef)|extern\s+alias)\b`,
				Compile: []string{"mcs", "-optimize+", "-nowarn:105", "-r:System.Core.dll", "-r:System.Numerics.dll", "-out:out/prog.exe", "main.cs"},
				Run:     []string{"mono", "prog.exe"}, Threads: 16, Sparse: true,
				NoMemory: []string{"OutOfMemoryException", "Out of memory"},
			}},
		},
	}
}

func kotlin(compile, run []string) Chain {
	c := jvm(Chain{
		Tools: []string{"kotlinc", "java"}, Install: "Kotlin from kotlinlang.org, default-jre-headless",
		Version: []string{"kotlinc", "-version"}, Compile: compile, Run: run,
	})
	c.CompileTime = 2 * slow
	return c
}

// jvmOptions are for all programs of the Java virtual machine: the serial
// collector, since CPU time is counted; a deep stack; and a heap as large as the
// limit, so that the limit decides.
const jvmOptions = "-XX:+UseSerialGC -XX:-UsePerfData -Xss64m -Xmx{memory}m"

// java is the command of a program for the Java virtual machine.
func java(args ...string) []string {
	return slices.Concat([]string{"java"}, strings.Fields(jvmOptions), args)
}

// jvm adds what all programs of the Java virtual machine need. Launchers written
// in shell take its options from the environment.
func jvm(c Chain) Chain {
	c.Env = append(c.Env, "JAVA_OPTS="+jvmOptions)
	c.Show = append(c.Show, "/etc/java-*", "/etc/jvm-*", "/etc/ssl/certs/java")
	c.CompileTime, c.CompileMemory = slow, 2<<30
	c.Threads, c.Sparse = 48, true
	c.NoMemory = append(c.NoMemory, "java.lang.OutOfMemoryError")
	return c
}
