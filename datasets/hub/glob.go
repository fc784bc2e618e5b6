package hub

import (
	"fmt"
	"regexp"
	"strings"
)

// Selection chooses files by shell patterns, with huggingface_hub's rule: a *
// also matches a slash, and a pattern that ends in a slash means everything in
// that folder.
type Selection struct {
	include, exclude []*regexp.Regexp
	// named are the include patterns that are plain paths.
	named []string
}

// Select compiles patterns. No include pattern means all files.
func Select(include, exclude []string) (Selection, error) {
	var s Selection
	var err error
	if s.include, err = globs(include); err != nil {
		return s, err
	}
	for _, p := range include {
		if !strings.ContainsAny(p, "*?[") && !strings.HasSuffix(p, "/") {
			s.named = append(s.named, p)
		}
	}
	s.exclude, err = globs(exclude)
	return s, err
}

// Match says whether a path is chosen.
func (s Selection) Match(path string) bool {
	return (len(s.include) == 0 || matchAny(s.include, path)) && !matchAny(s.exclude, path)
}

// All says that nothing is left out by rule.
func (s Selection) All() bool { return len(s.include) == 0 && len(s.exclude) == 0 }

func matchAny(patterns []*regexp.Regexp, path string) bool {
	for _, p := range patterns {
		if p.MatchString(path) {
			return true
		}
	}
	return false
}

func globs(patterns []string) ([]*regexp.Regexp, error) {
	var compiled []*regexp.Regexp
	for _, p := range patterns {
		re, err := glob(p)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
		compiled = append(compiled, re)
	}
	return compiled, nil
}

// glob translates Python's fnmatch: *, ?, [abc], [!abc].
func glob(pattern string) (*regexp.Regexp, error) {
	if strings.HasSuffix(pattern, "/") {
		pattern += "*"
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; ch {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			class, length := globClass(pattern[i:])
			b.WriteString(class)
			i += length - 1
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteByte('$')
	return regexp.Compile(b.String())
}

// globClass translates a bracket expression and returns its length in the
// pattern; a bracket that is never closed is itself.
func globClass(pattern string) (class string, length int) {
	first := 1
	if strings.HasPrefix(pattern[first:], "!") {
		first++
	}
	// A ] that comes first is a member.
	end := strings.IndexByte(pattern[min(first+1, len(pattern)):], ']')
	if end < 0 {
		return `\[`, 1
	}
	end += first + 1
	members := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(pattern[first:end])
	if first == 2 {
		return "[^" + members + "]", end + 1
	}
	return "[" + members + "]", end + 1
}
