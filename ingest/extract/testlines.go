package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// testRunners are programs that only run tests.
var testRunners = strings.Fields("pytest py.test jest vitest gotestsum")

// taskRunners are programs that run tests if a later word says so.
var taskRunners = strings.Fields("go cargo npm pnpm yarn bun npx make just mise task uv poetry pipenv python python3 tox nox hatch")

// runsTests reports whether a command runs tests. Only the output of such a command is read as test results, since a file may
// contain the same lines.
func runsTests(words []word) bool {
	if len(words) == 0 {
		return false
	}
	if slices.Contains(testRunners, words[0].text) {
		return true
	}
	if !slices.Contains(taskRunners, words[0].text) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w word) bool {
		return w.text == "test" || w.text == "tests" || strings.HasPrefix(w.text, "test:") || strings.HasPrefix(w.text, "test-") ||
			slices.Contains(testRunners, w.text)
	})
}

// A testForm is the form of a line with the result of a test. The first group is the result and the second the name, or the
// other way round if swap is true.
type testForm struct {
	line   *regexp.Regexp
	swap   bool
	passed string
}

// testForms are compiled when the first command that runs tests is read.
var testForms = sync.OnceValue(func() []testForm {
	return []testForm{
		// go test: --- PASS: TestName (0.00s)
		{line: regexp.MustCompile(`^ *--- (PASS|FAIL): (\S+) \([0-9.]+s\)$`), passed: "PASS"},
		// go test: ok   example.com/package 0.4s; a coverage may follow
		{line: regexp.MustCompile(`^(ok  |FAIL)\t([^\s\[\]]+)\t(?:\(cached\)|[0-9.]+s)(?:\tcoverage: .*)?$`), passed: "ok  "},
		// go test: FAIL	example.com/package [build failed]
		{line: regexp.MustCompile(`^(FAIL)\t([^\s\[\]]+) \[(?:build|setup) failed\]$`), passed: "ok  "},
		// pytest -v: tests/test_a.py::test_b PASSED   [ 50%]
		{line: regexp.MustCompile(`^([^\s:]+\.py::\S+) (PASSED|FAILED|ERROR)(?: +\[ *[0-9]+%\])?$`), swap: true, passed: "PASSED"},
		// pytest summary: FAILED tests/test_a.py::test_b - AssertionError
		{line: regexp.MustCompile(`^(PASSED|FAILED|ERROR) ([^\s:]+\.py::\S+)(?: - .*)?$`), passed: "PASSED"},
		// cargo test: test module::name ... ok
		{line: regexp.MustCompile(`^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED)$`), swap: true, passed: "ok"},
		// jest: PASS src/a.test.ts (5.1 s)
		{line: regexp.MustCompile(`^ ?(PASS|FAIL) +(\S+\.(?:test|spec)\.[cm]?[jt]sx?)(?: \([0-9.]+ m?s\))?$`), passed: "PASS"},
	}
})

// testLines finds the tests whose results are in the output.
func (x *extraction) testLines(c *call, text string) {
	if text == "" {
		return
	}
	forms := testForms()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) > MaxObject+256 {
			continue
		}
		for i := range forms {
			f := &forms[i]
			m := f.line.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			ended, name := m[1], m[2]
			if f.swap {
				ended, name = name, ended
			}
			predicate := TestFailed
			if ended == f.passed {
				predicate = TestPassed
			}
			x.add(&c.by, predicate, name, FixedForm)
			break
		}
	}
}
