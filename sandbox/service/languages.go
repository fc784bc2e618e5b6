package service

import (
	"slices"
	"strings"

	"github.com/coderl/cr/sandbox"
)

// apiLanguages are the names that SandboxFusion and ScaleBox document, in their
// order.
var apiLanguages = [...]string{
	"python", "cpp", "nodejs", "javascript", "go", "go_test", "java", "php",
	"csharp", "bash", "typescript", "sql", "rust", "cuda", "lua", "R", "perl",
	"D_ut", "ruby", "scala", "julia", "pytest", "junit", "kotlin_script", "jest",
	"verilog", "python_gpu", "lean", "swift", "racket",
}

// languageNames are the names a request may use: the documented ones, and what
// this sandbox can run besides. A documented one that cannot run here is no
// fault of the request; it gets an answer that says so.
func languageNames() []string {
	names := slices.Clone(apiLanguages[:])
	for _, name := range sandbox.Languages() {
		if !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// fenceTags are the words models write after ``` for a language, in lower case.
// A language that is not listed has its own name only.
var fenceTags = map[string][]string{
	"python":        {"python", "py", "python3"},
	"pytest":        {"python", "py", "python3", "pytest"},
	"cpp":           {"cpp", "c++", "cc", "cxx"},
	"nodejs":        {"nodejs", "javascript", "js", "node"},
	"javascript":    {"nodejs", "javascript", "js", "node"},
	"jest":          {"jest", "nodejs", "javascript", "js"},
	"typescript":    {"typescript", "ts"},
	"go":            {"go", "golang"},
	"go_test":       {"go", "golang", "go_test"},
	"java":          {"java"},
	"junit":         {"java", "junit"},
	"csharp":        {"csharp", "c#", "cs"},
	"bash":          {"bash", "sh", "shell"},
	"rust":          {"rust", "rs"},
	"ruby":          {"ruby", "rb"},
	"perl":          {"perl", "pl"},
	"r":             {"r"},
	"d":             {"d"},
	"d_ut":          {"d", "d_ut"},
	"julia":         {"julia", "jl"},
	"kotlin":        {"kotlin", "kt"},
	"kotlin_script": {"kotlin", "kt", "kts", "kotlin_script"},
	"racket":        {"racket", "rkt"},
	"scala":         {"scala"},
}

// tagNames says whether a fence's tag names the language.
func tagNames(tag, language string) bool {
	tag, language = strings.ToLower(strings.TrimSpace(tag)), strings.ToLower(language)
	tags, ok := fenceTags[language]
	return ok && slices.Contains(tags, tag) || tag == language
}
