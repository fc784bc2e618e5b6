package tinytasks

import (
	"slices"
	"strconv"
)

// numberSteps are the clauses on numbers.
func numberSteps() []step {
	return slices.Concat(numberFilters(), numberMaps(), numberOrders())
}

// keep makes a filter of numbers.
func keep(name string, p parameter, say, test string, holds func(x, k int) bool, near ...string) step {
	return step{
		name: name, takes: numbers, gives: numbers, param: p, say: say,
		code: "[x for x in a if " + test + "]", near: near,
		do: func(l list, p args) list {
			return list{kind: numbers, nums: slices.DeleteFunc(slices.Clone(l.nums), func(x int) bool { return !holds(x, p.k) })}
		},
	}
}

// each makes a map of numbers.
func each(name string, p parameter, say, value string, f func(x, k int) int, near ...string) step {
	return step{
		name: name, takes: numbers, gives: numbers, param: p, say: say,
		code: "[" + value + " for x in a]", near: near,
		do: func(l list, p args) list {
			out := make([]int, len(l.nums))
			for i, x := range l.nums {
				out[i] = f(x, p.k)
			}
			return list{kind: numbers, nums: out}
		},
	}
}

func numberFilters() []step {
	return []step{
		keep("even", none, "Keep the even numbers.", "x % 2 == 0", func(x, _ int) bool { return x%2 == 0 }, "odd"),
		keep("odd", none, "Keep the odd numbers.", "x % 2 == 1", func(x, _ int) bool { return x%2 != 0 }, "even"),
		keep("greater", threshold, "Keep the numbers greater than {k}.", "x > {k}", func(x, k int) bool { return x > k }, "less", "atleast"),
		keep("less", threshold, "Keep the numbers less than {k}.", "x < {k}", func(x, k int) bool { return x < k }, "greater", "atmost"),
		keep("atleast", threshold, "Keep the numbers that are at least {k}.", "x >= {k}", func(x, k int) bool { return x >= k }, "atmost", "greater"),
		keep("atmost", threshold, "Keep the numbers that are at most {k}.", "x <= {k}", func(x, k int) bool { return x <= k }, "atleast", "less"),
		keep("multiple", small, "Keep the multiples of {k}.", "x % {k} == 0", func(x, k int) bool { return x%k == 0 }, "nonmultiple"),
		keep("nonmultiple", small, "Drop the multiples of {k}.", "x % {k} != 0", func(x, k int) bool { return x%k != 0 }, "multiple"),
		keep("endsin", small, "Keep the numbers whose last digit is {k}.", "abs(x) % 10 == {k}", func(x, k int) bool { return abs(x)%10 == k }, "notendsin"),
		keep("notendsin", small, "Drop the numbers whose last digit is {k}.", "abs(x) % 10 != {k}", func(x, k int) bool { return abs(x)%10 != k }, "endsin"),
		keep("positive", none, "Keep the positive numbers.", "x > 0", func(x, _ int) bool { return x > 0 }, "negative"),
		keep("negative", none, "Keep the negative numbers.", "x < 0", func(x, _ int) bool { return x < 0 }, "positive"),
	}
}

func numberMaps() []step {
	return []step{
		each("add", small, "Add {k} to each number.", "x + {k}", func(x, k int) int { return x + k }, "subtract", "evenadd"),
		each("subtract", small, "Subtract {k} from each number.", "x - {k}", func(x, k int) int { return x - k }, "add", "from"),
		each("from", small, "Subtract each number from {k}.", "{k} - x", func(x, k int) int { return k - x }, "subtract"),
		each("times", small, "Multiply each number by {k}.", "x * {k}", func(x, k int) int { return x * k }, "add", "oddtimes"),
		each("divide", small, "Divide each number by {k}, rounding down.", "x // {k}", floorDiv, "mod"),
		each("mod", small, "Replace each number by its remainder modulo {k}.", "x % {k}", floorMod, "divide"),
		each("distance", threshold, "Replace each number by its distance to {k}.", "abs(x - {k})", func(x, k int) int { return abs(x - k) }, "cap"),
		each("cap", threshold, "Replace the numbers above {k} by {k}.", "min(x, {k})", func(x, k int) int { return min(x, k) }, "raise"),
		each("raise", threshold, "Replace the numbers below {k} by {k}.", "max(x, {k})", func(x, k int) int { return max(x, k) }, "cap"),
		each("square", none, "Square each number.", "x * x", func(x, _ int) int { return x * x }, "double"),
		each("double", none, "Double each number.", "x + x", func(x, _ int) int { return x + x }, "square"),
		each("negate", none, "Negate each number.", "-x", func(x, _ int) int { return -x }, "abs"),
		each("abs", none, "Replace each number by its absolute value.", "abs(x)", func(x, _ int) int { return abs(x) }, "negate"),
		each("lastdigit", none, "Replace each number by its last digit.", "abs(x) % 10", func(x, _ int) int { return abs(x) % 10 }, "digitsum"),
		each("digitsum", none, "Replace each number by the sum of its digits.", "sum(map(int, str(abs(x))))", func(x, _ int) int { return digitSum(x) }, "lastdigit", "digits"),
		each("digits", none, "Replace each number by how many digits it has.", "len(str(abs(x)))", func(x, _ int) int { return len(strconv.Itoa(abs(x))) }, "digitsum"),
		each("evenadd", small, "Add {k} to the even numbers.", "x + {k} if x % 2 == 0 else x", func(x, k int) int { return pick(x%2 == 0, x+k, x) }, "add"),
		each("oddtimes", small, "Multiply the odd numbers by {k}.", "x * {k} if x % 2 else x", func(x, k int) int { return pick(x%2 != 0, x*k, x) }, "times"),
	}
}

// arrange makes a step on whole lists of numbers.
func arrange(name, say, code string, f func(a []int) []int, near ...string) step {
	return step{
		name: name, takes: numbers, gives: numbers, say: say, code: code, near: near,
		do: func(l list, _ args) list { return list{kind: numbers, nums: f(slices.Clone(l.nums))} },
	}
}

func numberOrders() []step {
	return []step{
		arrange("running", "Replace each number by the sum of all up to it.", "list(accumulate(a))", func(a []int) []int {
			for i := 1; i < len(a); i++ {
				a[i] += a[i-1]
			}
			return a
		}, "pairs"),
		arrange("differences", "Take the differences of neighbours, later minus earlier.", "[y - x for x, y in zip(a, a[1:])]",
			func(a []int) []int { return neighbours(a, func(x, y int) int { return y - x }) }, "pairs"),
		arrange("pairs", "Take the sums of neighbours.", "[x + y for x, y in zip(a, a[1:])]",
			func(a []int) []int { return neighbours(a, func(x, y int) int { return x + y }) }, "differences"),
		arrange("sortabs", "Sort by absolute value.", "sorted(a, key=abs)", func(a []int) []int {
			slices.SortStableFunc(a, func(x, y int) int { return abs(x) - abs(y) })
			return a
		}, "sort"),
		arrange("addindex", "Add to each number its position, counted from 0.", "[x + i for i, x in enumerate(a)]", func(a []int) []int {
			for i := range a {
				a[i] += i
			}
			return a
		}, "timesindex"),
		arrange("timesindex", "Multiply each number by its position, counted from 0.", "[x * i for i, x in enumerate(a)]", func(a []int) []int {
			for i := range a {
				a[i] *= i
			}
			return a
		}, "addindex"),
	}
}

// numberFinishes end programs on numbers.
func numberFinishes() []finish {
	return []finish{
		{"sum", numbers, "the sum.", "sum(a)", func(l list) answer { return number(sum(l.nums)) }, []string{"product", "count"}},
		{"product", numbers, "the product.", "prod(a)", func(l list) answer {
			p := 1
			for _, x := range l.nums {
				p = clamp(p * x)
			}
			return number(p)
		}, []string{"sum"}},
		{"largest", numbers, "the largest number, 0 if there is none.", "max(a, default=0)", func(l list) answer {
			if len(l.nums) == 0 {
				return number(0)
			}
			return number(slices.Max(l.nums))
		}, []string{"smallest"}},
		{"smallest", numbers, "the smallest number, 0 if there is none.", "min(a, default=0)", func(l list) answer {
			if len(l.nums) == 0 {
				return number(0)
			}
			return number(slices.Min(l.nums))
		}, []string{"largest"}},
		{"firstnumber", numbers, "the first number, 0 if there is none.", "a[0] if a else 0", func(l list) answer {
			if len(l.nums) == 0 {
				return number(0)
			}
			return number(l.nums[0])
		}, []string{"lastnumber"}},
		{"lastnumber", numbers, "the last number, 0 if there is none.", "a[-1] if a else 0", func(l list) answer {
			if len(l.nums) == 0 {
				return number(0)
			}
			return number(l.nums[len(l.nums)-1])
		}, []string{"firstnumber"}},
		{"spread", numbers, "the largest minus the smallest, 0 if there is none.", "max(a) - min(a) if a else 0", func(l list) answer {
			if len(l.nums) == 0 {
				return number(0)
			}
			return number(slices.Max(l.nums) - slices.Min(l.nums))
		}, []string{"largest"}},
		{"squares", numbers, "the sum of the squares.", "sum(x * x for x in a)", func(l list) answer {
			s := 0
			for _, x := range l.nums {
				s += x * x
			}
			return number(s)
		}, []string{"sum"}},
		{"alternating", numbers, "the sum with alternating signs, the first plus.", "sum(a[::2]) - sum(a[1::2])", func(l list) answer {
			s := 0
			for i, x := range l.nums {
				s += pick(i%2 == 0, x, -x)
			}
			return number(s)
		}, []string{"sum"}},
	}
}

func abs(x int) int { return max(x, -x) }

// limit is beyond all that a task may come to; clamping keeps products from
// running over.
const limit = 1 << 31

func clamp(x int) int { return max(-limit, min(x, limit)) }

func sum(a []int) int {
	s := 0
	for _, x := range a {
		s += x
	}
	return s
}

// floorDiv and floorMod are Python's // and % for a divisor above 0.
func floorDiv(x, k int) int { return (x - floorMod(x, k)) / k }

func floorMod(x, k int) int { return (x%k + k) % k }

func digitSum(x int) int {
	s := 0
	for x = abs(x); x > 0; x /= 10 {
		s += x % 10
	}
	return s
}

func pick(cond bool, yes, no int) int {
	if cond {
		return yes
	}
	return no
}

func neighbours(a []int, f func(x, y int) int) []int {
	out := make([]int, 0, len(a))
	for i := 1; i < len(a); i++ {
		out = append(out, f(a[i-1], a[i]))
	}
	return out
}
