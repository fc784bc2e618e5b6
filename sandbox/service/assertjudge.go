package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"regexp"
	"strings"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// Asserts judges programs by assertions: Python by calls from another process,
// other languages by the exit status of the program with its tests.
type Asserts struct {
	Judge *judge.Judge
	Exec  sandbox.Executor
}

// pythonImports are what ScaleBox puts before a Python program.
var pythonImports = []string{
	"import math", "import re", "import sys", "import copy", "import datetime", "import itertools",
	"import collections", "import heapq", "import statistics", "import functools", "import hashlib",
	"import numpy", "import numpy as np", "import string", "from typing import *", "from collections import *",
}

// JudgeAssert judges one program.
func (a Asserts) JudgeAssert(ctx context.Context, task AssertTask) (AssertResult, error) {
	if tagNames("python", task.Language) {
		return a.python(ctx, task)
	}
	return a.together(ctx, task)
}

func (a Asserts) python(ctx context.Context, task AssertTask) (AssertResult, error) {
	full := strings.Join(pythonImports, "\n") + "\n" + task.Code + "\n" + task.Test + "\ncheck(" + task.EntryPoint + ")"
	result, err := a.Judge.JudgeTest(ctx, importsFor(task.Code)+task.Code, judge.Task{
		Language: "python", Plain: true, Limits: task.Limits,
		Assert: &judge.Assert{
			Tests: task.Test, Entry: task.EntryPoint, Setup: importsFor(task.Test), Main: true,
		},
	}, judge.Test{})
	if result.Verdict != sandbox.AC && result.Run.Status == sandbox.OK {
		// For clients the tests are a part of the program.
		result.Run.Status, result.Run.ExitCode = sandbox.RuntimeError, 1
		result.Run.Stderr = append(result.Run.Stderr, result.Detail+"\n"...)
	}
	return AssertResult{TestResult: result, Extracted: task.Code, FullCode: full}, err
}

// usesNumpy and usesHashlib tell whether code names what is slow to import.
var (
	usesNumpy   = regexp.MustCompile(`\b(numpy|np)\b`)
	usesHashlib = regexp.MustCompile(`\bhashlib\b`)
)

// importsFor are the imports that code may rely on. Those that take long come
// only where it names them, numpy only where the interpreter has it: a program
// that has a variable called np is right without. None come where they would
// stand before __future__.
func importsFor(code string) string {
	if strings.Contains(code, "__future__") {
		return ""
	}
	var lines, numpy strings.Builder
	for _, line := range pythonImports {
		switch {
		case strings.HasPrefix(line, "import numpy"):
			numpy.WriteString("try: " + line + "\nexcept ImportError: pass\n")
		case line != "import hashlib" || usesHashlib.MatchString(code):
			lines.WriteString(line + "; ")
		}
	}
	if !usesNumpy.MatchString(code) {
		numpy.Reset()
	}
	return numpy.String() + lines.String() + "\n"
}

// cppIncludes are what ScaleBox puts before a C++ program, less what is no part
// of the standard library.
const cppIncludes = "using namespace std;\n#include<optional>\n#include<cassert>\n#include<stdlib.h>\n" +
	"#include<algorithm>\n#include<cmath>\n#include<math.h>\n#include<numeric>\n#include<stdio.h>\n" +
	"#include<vector>\n#include<set>\n#include<map>\n#include<queue>\n#include<stack>\n#include<list>\n" +
	"#include<deque>\n#include<string>\n#include<climits>\n#include<cstring>\n#include<iostream>\n" +
	"#include<sstream>\n#include<fstream>\n"

// together runs a program that is its own test. It passes if it ends well and,
// in the languages that have a place for it, prints a word behind its last
// assertion: leaving with status 0 before is no pass.
func (a Asserts) together(ctx context.Context, task AssertTask) (AssertResult, error) {
	code, head := cutAtTokens(task.Code, task.StopTokens), ""
	if tagNames("cpp", task.Language) {
		head = cppIncludes
	}
	full := head + code + "\n" + task.Tests
	word := "checked-" + rand.Text()
	tests, proven := withProof(task.Language, task.Tests, word)
	program := head + code + "\n" + tests
	if tagNames("java", task.Language) {
		program = withMain(program)
	}
	run, err := a.Exec.Run(ctx, sandbox.Job{
		Language: task.Language, Code: program, Limits: task.Limits, CompileTime: task.CompileTime,
	})
	if err != nil {
		return AssertResult{}, err
	}
	result := judge.TestResult{Verdict: sandbox.RE, CPU: run.CPU, Memory: run.Memory, Together: true}
	said, found := bytes.CutSuffix(bytes.TrimRight(run.Stdout, "\n"), []byte(word))
	switch {
	case run.Status == sandbox.OK && proven && !found:
		result.Detail = "the program ended before its assertions did"
		run.Status, run.ExitCode = sandbox.RuntimeError, 1
		run.Stderr = append(run.Stderr, result.Detail+"\n"...)
	case run.Status == sandbox.OK:
		result.Verdict = sandbox.AC
	case run.Status != sandbox.RuntimeError:
		result.Verdict = sandbox.Verdict(run.Status)
	}
	if found {
		run.Stdout = said // the word is ours
	}
	result.Run = run
	return AssertResult{TestResult: result, Extracted: code, FullCode: full}, nil
}

// cutAtTokens ends a program where the first of the tokens begins.
func cutAtTokens(code string, tokens []string) string {
	for _, token := range tokens {
		if at := strings.Index(code, token); token != "" && at >= 0 {
			code = code[:at]
		}
	}
	return code
}
