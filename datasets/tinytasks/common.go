package tinytasks

import "slices"

// rearrange makes a step on lists of every kind. It must not look at what the
// elements are.
func rearrange(name string, p parameter, say, code string, order func(n, k int) []int, near ...string) step {
	return step{
		name: name, takes: anything, gives: anything, param: p, say: say, code: code, near: near,
		do: func(l list, p args) list { return l.at(order(l.len(), p.k)) },
	}
}

// at is the list of the elements at the given places.
func (l list) at(places []int) list {
	out := list{kind: l.kind}
	for _, i := range places {
		if l.kind == numbers {
			out.nums = append(out.nums, l.nums[i])
		} else {
			out.words = append(out.words, l.words[i])
		}
	}
	return out
}

// span counts from lo to hi-1, both brought into 0..n as Python's slices do.
func span(n, lo, hi int) []int {
	var places []int
	for i := max(lo, 0); i < min(hi, n); i++ {
		places = append(places, i)
	}
	return places
}

// commonSteps are the clauses on lists of every kind.
func commonSteps() []step {
	return []step{
		rearrange("reverse", none, "Reverse the order.", "a[::-1]", func(n, _ int) []int {
			places := span(n, 0, n)
			slices.Reverse(places)
			return places
		}, "sort", "sortdown"),
		rearrange("dropfirst", none, "Drop the first one.", "a[1:]", func(n, _ int) []int { return span(n, 1, n) }, "droplast"),
		rearrange("droplast", none, "Drop the last one.", "a[:-1]", func(n, _ int) []int { return span(n, 0, n-1) }, "dropfirst"),
		rearrange("everysecond", none, "Keep every second one, beginning with the first.", "a[::2]", func(n, _ int) []int {
			return slices.DeleteFunc(span(n, 0, n), func(i int) bool { return i%2 == 1 })
		}, "oddplaces"),
		rearrange("oddplaces", none, "Keep every second one, beginning with the second.", "a[1::2]", func(n, _ int) []int {
			return slices.DeleteFunc(span(n, 0, n), func(i int) bool { return i%2 == 0 })
		}, "everysecond"),
		rearrange("firstk", small, "Keep the first {k}.", "a[:{k}]", func(n, k int) []int { return span(n, 0, k) }, "lastk"),
		rearrange("lastk", small, "Keep the last {k}.", "a[-{k}:]", func(n, k int) []int { return span(n, n-k, n) }, "firstk"),
		rearrange("rotate", none, "Move the first one to the end.", "a[1:] + a[:1]", func(n, _ int) []int {
			return append(span(n, 1, n), span(n, 0, 1)...)
		}, "dropfirst"),
		rearrange("repeat", none, "Write the whole list twice.", "a + a", func(n, _ int) []int {
			return append(span(n, 0, n), span(n, 0, n)...)
		}, "reverse"),
		compared("sort", "Sort upwards.", "sorted(a)", func(l list) list { return l.sorted() }, "sortdown", "reverse"),
		compared("sortdown", "Sort downwards.", "sorted(a)[::-1]", func(l list) list {
			out := l.sorted()
			slices.Reverse(out.nums)
			slices.Reverse(out.words)
			return out
		}, "sort", "reverse"),
		compared("unique", "Remove duplicates, keeping the first.", "list(dict.fromkeys(a))", func(l list) list { return l.distinct() }, "sort"),
	}
}

// compared makes a step on lists of every kind that compares their elements.
func compared(name, say, code string, f func(l list) list, near ...string) step {
	return step{
		name: name, takes: anything, gives: anything, say: say, code: code, near: near,
		do: func(l list, _ args) list { return f(l) },
	}
}

func (l list) sorted() list {
	out := list{kind: l.kind, nums: slices.Clone(l.nums), words: slices.Clone(l.words)}
	slices.Sort(out.nums)
	slices.Sort(out.words)
	return out
}

func (l list) distinct() list {
	return l.at(slices.DeleteFunc(span(l.len(), 0, l.len()), func(i int) bool {
		return slices.Contains(l.nums[:min(i, len(l.nums))], at(l.nums, i)) || slices.Contains(l.words[:min(i, len(l.words))], at(l.words, i))
	}))
}

// at is s[i], or the zero value beyond its end.
func at[T any](s []T, i int) T {
	var zero T
	if i >= len(s) {
		return zero
	}
	return s[i]
}

// commonFinishes end programs on every kind.
func commonFinishes() []finish {
	return []finish{
		{"count", anything, "how many are left.", "len(a)", func(l list) answer { return number(l.len()) }, []string{"different"}},
		{"different", anything, "how many different ones are left.", "len(set(a))", func(l list) answer { return number(l.distinct().len()) }, []string{"count"}},
		{"list", anything, "the list.", "", whole, nil},
	}
}
