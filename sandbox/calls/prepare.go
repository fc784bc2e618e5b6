package calls

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// solution is the class that may hold the function.
const solution = "Solution"

var (
	hasSolution = regexp.MustCompile(`(?m)\b(?:class|struct|impl|type)\s+Solution\b`)
	goPackage   = regexp.MustCompile(`(?m)^\s*package\s+\w+[ \t;]*$`)
	goMain      = regexp.MustCompile(`(?m)^func\s+main\s*\(\s*\)`)
	rustMain    = regexp.MustCompile(`\bfn\s+main\s*\(`)
	rustStruct  = regexp.MustCompile(`\bstruct\s+Solution\b`)
	javaImport  = regexp.MustCompile(`(?m)^\s*import\s+[\w.*\s]+;[ \t]*$`)
	javaPackage = regexp.MustCompile(`(?m)^\s*package\s+[\w.]+;[ \t]*$`)
	javaClass   = regexp.MustCompile(`(?m)^\s*(?:public\s+|final\s+|abstract\s+)*class\s+(\w+)`)
	javaPublic  = regexp.MustCompile(`(?m)^(\s*)public\s+((?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s)`)
	phpOpen     = regexp.MustCompile(`^\s*<\?php`)
	phpClose    = regexp.MustCompile(`\?>\s*$`)
	javaMain    = regexp.MustCompile(`\bMain\b`)
)

// prepare makes room in a program for its harness: another entry point, imports
// where they belong. class is the class that holds the function, "" if none does.
func prepare(language, code string) (prepared, class string) {
	if hasSolution.MatchString(code) {
		class = solution
	}
	switch language {
	case "cpp":
		return cppHead + code + "\n", class
	case "go":
		code = goMain.ReplaceAllString(goPackage.ReplaceAllString(code, ""), "func crProgramMain()")
		return "package main\n\nimport (\n\tcrJSON \"encoding/json\"\n\tcrOS \"os\"\n\tcrReflect \"reflect\"\n)\n\n" + code, class
	case "rust":
		code = rustMain.ReplaceAllString(code, "#[allow(dead_code)] fn cr_program_main(")
		if class != "" && !rustStruct.MatchString(code) {
			code = "struct Solution;\n" + code
		}
		return code, class
	case "java":
		return prepareJava(code)
	case "php":
		code = phpClose.ReplaceAllString(phpOpen.ReplaceAllString(code, ""), "")
		return "<?php\n" + code + "\n", class
	default:
		return code + "\n", class
	}
}

// cppHead gives a program what its harness needs, and another entry point.
const cppHead = `#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>
#define main cr_program_main
#line 1 "main.cpp"
`

// prepareJava puts a program's imports first and finds the class that holds the
// function: Solution, else the program's first; bare methods get one.
func prepareJava(code string) (prepared, class string) {
	imports := strings.Join(javaImport.FindAllString(code, -1), "\n")
	code = javaPackage.ReplaceAllString(javaImport.ReplaceAllString(code, ""), "")
	code = javaMain.ReplaceAllString(code, "CrProgramMain")
	classes := javaClass.FindAllStringSubmatch(code, -1)
	first := strings.TrimSpace(code)
	switch {
	case len(classes) == 0 || !startsWithClass(first):
		code, class = "class CrProgram {\n"+code+"\n}\n", "CrProgram"
	case slices.ContainsFunc(classes, func(m []string) bool { return m[1] == solution }):
		class = solution
	default:
		class = classes[0][1]
	}
	return imports + "\n" + javaPublic.ReplaceAllString(code, "$1$2"), class
}

func startsWithClass(code string) bool {
	at := javaClass.FindStringIndex(code)
	return at != nil && !strings.ContainsAny(code[:at[0]], "({")
}

// luaLiterals writes arguments as source text, for Lua has no JSON.
func luaLiterals(language string, args []json.RawMessage) string {
	if language != "lua" {
		return ""
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		var v any
		d := json.NewDecoder(strings.NewReader(string(arg)))
		d.UseNumber()
		if d.Decode(&v) != nil {
			v = nil
		}
		texts[i] = luaLiteral(v)
	}
	return strings.Join(texts, ", ")
}

func luaLiteral(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		var b strings.Builder
		for _, c := range []byte(v) {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		return `"` + b.String() + `"`
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = luaLiteral(item)
		}
		return "{" + strings.Join(items, ", ") + "}"
	case map[string]any:
		var items []string
		for key, item := range v {
			items = append(items, "["+luaLiteral(key)+"] = "+luaLiteral(item))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	default:
		return fmt.Sprint(v)
	}
}
