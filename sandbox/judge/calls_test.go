package judge

import (
	"errors"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// TestCallsInOtherLanguages makes real calls: values of each kind there and back,
// a wrong value, and a program that leaves before its call returns.
func TestCallsInOtherLanguages(t *testing.T) {
	exec, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tt := range []struct {
		language, code, name, input, output string
		want                                sandbox.Verdict
	}{
		{"cpp", "int add(int a,int b){return a+b;}", "add", "1\n2", "3", sandbox.AC},
		{"cpp", "int add(int a,int b){return a-b;}", "add", "1\n2", "3", sandbox.WA},
		{"cpp", "#include <cstdlib>\nint add(int a,int b){ exit(0); }", "add", "1\n2", "3", sandbox.RE},
		{"cpp", "#include <vector>\nusing namespace std;\nlong s(vector<int>& v){ long t=0; for(int x: v) t+=x; return t; }", "s", "[1, 2, 3]", "6", sandbox.AC},
		{"cpp", "#include <string>\nint n(const std::string& s){ return s.size(); }", "n", `"a\"b"`, "3", sandbox.AC},
		{"cpp", "#include <bits/stdc++.h>\nusing namespace std;\nvector<pair<string,double>> f(map<string,double> m, optional<int> o){ vector<pair<string,double>> r(m.begin(), m.end()); if (!o) r.push_back({\"no\\n\", 0.5}); return r; }\nint main(){ return 1; }", "f", "{\"x\": 1.5}\nnull", `[["x", 1.5], ["no\n", 0.5]]`, sandbox.AC},
		{"cpp", "#include <vector>\nclass Solution { public: std::vector<int> twice(std::vector<int> v) { for (int& x : v) x *= 2; return v; } };", "twice", "[1, 2]", "[2, 4]", sandbox.AC},
		{"cpp", "int add(int a){return a;", "add", "1", "1", sandbox.CE},
		{"nodejs", "function f(a){ return a.map(x=>x+1); }", "f", "[1, 2]", "[2, 3]", sandbox.AC},
		{"nodejs", "function f(a){ return a === null ? 1 : 2; }", "f", "null", "1", sandbox.AC},
		{"nodejs", "class Solution { f(a) { return {b: a}; } }", "f", "\"x\"", `{"b": "x"}`, sandbox.AC},
		{"nodejs", "function f(a){ process.exit(0); }", "f", "1", "1", sandbox.RE},
		{"nodejs", "function g(a){ return 1; }", "f", "1", "1", sandbox.RE},
		{"rust", "fn f(s: &str) -> usize { s.len() }", "f", `"ab"`, "2", sandbox.AC},
		{"rust", "impl Solution { pub fn two(n: Vec<i32>, t: Option<i64>) -> Vec<String> { n.iter().map(|x| format!(\"{}{:?}\", x, t)).collect() } }\nfn main() {}", "two", "[1, 2]\nnull", `["1None", "2None"]`, sandbox.AC},
		{"rust", "use std::collections::HashMap;\nfn f(a: &Vec<Vec<i32>>, b: &[f64], c: char) -> HashMap<String, (bool, f64)> { HashMap::from([(c.to_string(), (a.len() == 1, b[0]))]) }", "f", "[[1]]\n[0.5]\n\"q\"", `{"q": [true, 0.5]}`, sandbox.AC},
		{"go", "import \"strings\"\nfunc f(s []string, n int) map[string]int { return map[string]int{strings.Join(s, \"-\"): n} }", "f", "[\"a\", \"b\"]\n3", `{"a-b": 3}`, sandbox.AC},
		{"go", "package main\nfunc f(n int) []int { return nil }\nfunc main() {}", "f", "3", "[]", sandbox.AC},
		{"java", "public static boolean same(String s, int[] a) { return s.length() == a.length; }", "same", "\"ab\"\n[1, 2]", "true", sandbox.AC},
		{"java", "import java.util.*;\npublic class Solution {\n    public List<Integer> f(List<List<Integer>> a, double d) { List<Integer> r = new ArrayList<>(a.get(0)); r.add((int) d); return r; }\n}", "f", "[[1]]\n2.5", "[1, 2]", sandbox.AC},
		{"java", "static int f(int a) { System.exit(0); return 1; }", "f", "1", "1", sandbox.RE},
		{"bash", "add() { echo $(($1 + $2)); }", "add", "1\n2", "3", sandbox.AC},
		{"bash", "say() { echo \"$1\"; }", "say", `"12"`, `"12"`, sandbox.AC},
		{"bash", "add() { exit 0; }", "add", "1\n2", "3", sandbox.WA},
		{"php", "function f($a, $b) { return [$a['x'], $b]; }", "f", "{\"x\": 1.0}\nnull", "[1.0, null]", sandbox.AC},
		{"php", "<?php\nfunction f($a) { exit(0); }", "f", "1", "1", sandbox.RE},
		{"ruby", "def f(a, b)\n  a.map { |x| x * b }\nend", "f", "[1, 2]\n3", "[3, 6]", sandbox.AC},
		{"perl", "sub f { my ($s, $l) = @_; return scalar(@$l) . $s; }", "f", "\"a\"\n[1, 2]", `"2a"`, sandbox.AC},
		{"perl", "sub f { my ($a, $b) = @_; return $a + $b; }", "f", "1\n2", "3", sandbox.AC},
		{"lua", "function f(a, s) return {#a, s .. '\\n'} end", "f", "[1, 2]\n\"x\"", `[2, "x\n"]`, sandbox.AC},
	} {
		t.Run(tt.language+" "+tt.name, func(t *testing.T) {
			task := Task{
				Language: tt.language, Method: tt.name, Function: true, Plain: true, Mode: Lines,
				Tests: []Test{{Input: tt.input, Output: tt.output}},
			}
			report, err := New(exec).Judge(t.Context(), tt.code, task)
			if errors.As(err, new(*sandbox.LanguageError)) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if report.Verdict != tt.want {
				t.Errorf("%s: got %s: %s", tt.code, report.Verdict, report.Tests[0].Detail)
			}
		})
	}
}
