package tinytasks

import (
	"slices"
	"strings"
)

// wordSteps are the clauses on words.
func wordSteps() []step {
	return slices.Concat(wordFilters(), wordMaps(), []step{
		{
			name: "bylength", takes: words, gives: words, say: "Sort by length, shortest first.", code: "sorted(a, key=len)",
			near: []string{"sort"},
			do: func(l list, _ args) list {
				out := slices.Clone(l.words)
				slices.SortStableFunc(out, func(x, y string) int { return len(x) - len(y) })
				return list{kind: words, words: out}
			},
		},
		toNumbers("lengths", none, "Replace each word by its length.", "len(w)", func(w string, _ args) int { return len(w) }, "vowels"),
		toNumbers("vowels", none, "Replace each word by its number of vowels.", "sum(w.count(v) for v in 'aeiou')", func(w string, _ args) int {
			n := 0
			for _, v := range "aeiou" {
				n += strings.Count(w, string(v))
			}
			return n
		}, "lengths"),
		toNumbers("occurrences", letter, "Replace each word by how often it has '{c}'.", "w.count('{c}')", func(w string, p args) int {
			return strings.Count(w, string(p.c))
		}),
	})
}

func keepWords(name string, p parameter, say, test string, holds func(w string, p args) bool, near ...string) step {
	return step{
		name: name, takes: words, gives: words, param: p, say: say,
		code: "[w for w in a if " + test + "]", near: near,
		do: func(l list, p args) list {
			return list{kind: words, words: slices.DeleteFunc(slices.Clone(l.words), func(w string) bool { return !holds(w, p) })}
		},
	}
}

func eachWord(name string, p parameter, say, value string, f func(w string, p args) string, near ...string) step {
	return step{
		name: name, takes: words, gives: words, param: p, say: say,
		code: "[" + value + " for w in a]", near: near,
		do: func(l list, p args) list {
			out := make([]string, len(l.words))
			for i, w := range l.words {
				out[i] = f(w, p)
			}
			return list{kind: words, words: out}
		},
	}
}

func toNumbers(name string, p parameter, say, value string, f func(w string, p args) int, near ...string) step {
	return step{
		name: name, takes: words, gives: numbers, param: p, say: say,
		code: "[" + value + " for w in a]", near: near,
		do: func(l list, p args) list {
			out := make([]int, len(l.words))
			for i, w := range l.words {
				out[i] = f(w, p)
			}
			return list{kind: numbers, nums: out}
		},
	}
}

func wordFilters() []step {
	return []step{
		keepWords("longer", small, "Keep the words longer than {k}.", "len(w) > {k}", func(w string, p args) bool { return len(w) > p.k }, "shorter"),
		keepWords("shorter", small, "Keep the words shorter than {k}.", "len(w) < {k}", func(w string, p args) bool { return len(w) < p.k }, "longer"),
		keepWords("evenlength", none, "Keep the words of even length.", "len(w) % 2 == 0", func(w string, _ args) bool { return len(w)%2 == 0 }, "oddlength"),
		keepWords("oddlength", none, "Keep the words of odd length.", "len(w) % 2 == 1", func(w string, _ args) bool { return len(w)%2 == 1 }, "evenlength"),
		keepWords("starts", letter, "Keep the words that start with '{c}'.", "w[:1] == '{c}'", func(w string, p args) bool { return w[:min(1, len(w))] == string(p.c) }, "ends", "has"),
		keepWords("ends", letter, "Keep the words that end with '{c}'.", "w[-1:] == '{c}'", func(w string, p args) bool { return w[max(0, len(w)-1):] == string(p.c) }, "starts", "has"),
		keepWords("has", letter, "Keep the words with '{c}'.", "'{c}' in w", func(w string, p args) bool { return strings.Contains(w, string(p.c)) }, "lacks"),
		keepWords("lacks", letter, "Keep the words without '{c}'.", "'{c}' not in w", func(w string, p args) bool { return !strings.Contains(w, string(p.c)) }, "has"),
		keepWords("before", letter, "Keep the words before '{c}' in the alphabet.", "w < '{c}'", func(w string, p args) bool { return w < string(p.c) }, "starts"),
	}
}

func wordMaps() []step {
	return []step{
		eachWord("backwards", none, "Write each word backwards.", "w[::-1]", func(w string, _ args) string {
			b := []byte(w)
			slices.Reverse(b)
			return string(b)
		}, "lettersorted"),
		eachWord("upper", none, "Write each word in capitals.", "w.upper()", func(w string, _ args) string { return strings.ToUpper(w) }, "title"),
		eachWord("title", none, "Capitalize each word.", "w.capitalize()", func(w string, _ args) string {
			return strings.ToUpper(w[:min(1, len(w))]) + strings.ToLower(w[min(1, len(w)):])
		}, "upper"),
		eachWord("initial", none, "Replace each word by its first letter.", "w[:1]", func(w string, _ args) string { return w[:min(1, len(w))] }, "final", "behead"),
		eachWord("final", none, "Replace each word by its last letter.", "w[-1:]", func(w string, _ args) string { return w[max(0, len(w)-1):] }, "initial", "curtail"),
		eachWord("behead", none, "Remove the first letter of each word.", "w[1:]", func(w string, _ args) string { return w[min(1, len(w)):] }, "curtail", "initial"),
		eachWord("curtail", none, "Remove the last letter of each word.", "w[:-1]", func(w string, _ args) string { return w[:max(0, len(w)-1)] }, "behead", "final"),
		eachWord("twice", none, "Write each word twice, without a space.", "w + w", func(w string, _ args) string { return w + w }, "backwards"),
		eachWord("lettersorted", none, "Sort the letters of each word.", "''.join(sorted(w))", func(w string, _ args) string {
			b := []byte(w)
			slices.Sort(b)
			return string(b)
		}, "backwards"),
		eachWord("without", letter, "Remove each '{c}' from each word.", "w.replace('{c}', '')", func(w string, p args) string {
			return strings.ReplaceAll(w, string(p.c), "")
		}, "append"),
		eachWord("append", letter, "Put '{c}' behind each word.", "w + '{c}'", func(w string, p args) string { return w + string(p.c) }, "prepend"),
		eachWord("prepend", letter, "Put '{c}' before each word.", "'{c}' + w", func(w string, p args) string { return string(p.c) + w }, "append"),
	}
}

// wordFinishes end programs on words.
func wordFinishes() []finish {
	return []finish{
		{"letters", words, "the number of letters in all.", "sum(len(w) for w in a)", func(l list) answer {
			return number(len(strings.Join(l.words, "")))
		}, []string{"count"}},
		{"longest", words, "the longest word, the first of several.", "max(a, key=len, default='')", func(l list) answer {
			best := ""
			for _, w := range l.words {
				if len(w) > len(best) {
					best = w
				}
			}
			return text(best)
		}, []string{"shortest", "alphabetlast"}},
		{"shortest", words, "the shortest word, the first of several.", "min(a, key=len, default='')", func(l list) answer {
			if len(l.words) == 0 {
				return text("")
			}
			return text(slices.MinFunc(l.words, func(x, y string) int { return len(x) - len(y) }))
		}, []string{"longest", "alphabetfirst"}},
		{"alphabetfirst", words, "the first word in the alphabet.", "min(a, default='')", func(l list) answer {
			if len(l.words) == 0 {
				return text("")
			}
			return text(slices.Min(l.words))
		}, []string{"alphabetlast", "shortest"}},
		{"alphabetlast", words, "the last word in the alphabet.", "max(a, default='')", func(l list) answer {
			if len(l.words) == 0 {
				return text("")
			}
			return text(slices.Max(l.words))
		}, []string{"alphabetfirst", "longest"}},
		{"joined", words, "the words joined by '-'.", "'-'.join(a)", func(l list) answer { return text(strings.Join(l.words, "-")) }, []string{"glued"}},
		{"glued", words, "the words joined without a space.", "''.join(a)", func(l list) answer { return text(strings.Join(l.words, "")) }, []string{"joined"}},
	}
}
