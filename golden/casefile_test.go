package golden_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/golden"
)

// TestCaseFile gives back the files of cases, whatever their bytes.
func TestCaseFile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SampledFrom([]string{"README.md", "trust", "evidence/bundle.json", "evidence/x y", "é"})
		contents := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }))
		cases := rapid.MapOf(rapid.SampledFrom([]string{"good", "good_one", "é x"}), rapid.MapOf(names, contents)).Draw(rt, "cases")
		data, err := golden.MarshalCases(cases)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := golden.ParseCases(data)
		if err != nil || !maps.EqualFunc(again, cases, func(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }) {
			rt.Fatalf("%v became %v, %v: %s", cases, again, err, data)
		}
	})
	if data, err := golden.MarshalCases(map[string]map[string][]byte{"c_d": {"b": []byte("<\u2028\n"), "a": {0xff}}}); err != nil || string(data) != "{\n \"c_d\": {\n  \"a\": {\n   \"base64\": \"/w==\"\n  },\n  \"b\": \"<\\u2028\\n\"\n }\n}\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestCaseFileRefuses refuses what MarshalCases does not make, and paths that lead out of a case.
func TestCaseFileRefuses(t *testing.T) {
	for _, text := range []string{"", "[]", `{"a":1}`, `{"a":null}`, `{"a":{}}`, `{"a":{"base64":null}}`, `{"a":{"base64":"?"}}`, `{"a":{"base64":"","more":1}}`, `{"../a":""}`, `{"/a":""}`, `{"a/":""}`, `{"":""}`, `{"a":""} x`} {
		if text != "" && text != "[]" {
			text = `{"case":` + text + `}`
		}
		if files, err := golden.ParseCases([]byte(text)); err == nil {
			t.Errorf("%s are cases: %q", text, files)
		}
	}
	for _, name := range []string{"", "/a", "../a", "a//b"} {
		if data, err := golden.MarshalCases(map[string]map[string][]byte{"case": {name: nil}}); err == nil {
			t.Errorf("%q is a file of a case: %s", name, data)
		}
	}
	for _, name := range []string{"", "a/b", "..", ".", "/a"} {
		if data, err := golden.MarshalCases(map[string]map[string][]byte{name: {"a": nil}}); err == nil {
			t.Errorf("%q is the name of a case: %s", name, data)
		}
		if cases, err := golden.ParseCases([]byte(`{"` + name + `":{"a":""}}`)); err == nil {
			t.Errorf("%q is the name of a case: %q", name, cases)
		}
	}
}

// TestCasesOfSubject reads cases from the file of their subject alone, and with an exit code.
func TestCasesOfSubject(t *testing.T) {
	const expect = `{"expect.json":"{\"exit_code\":0}"}`
	if cases, err := golden.CasesOf("good.json", []byte(`{"good":`+expect+`,"good_one":`+expect+`}`)); err != nil || len(cases) != 2 {
		t.Errorf("%+v, %v", cases, err)
	}
	for _, text := range []string{`{"good":` + expect + `,"bad_one":` + expect + `}`, `{"good":{}}`, `{"good":{"expect.json":"{}"}}`, `[]`} {
		if cases, err := golden.CasesOf("good.json", []byte(text)); err == nil {
			t.Errorf("%s has the cases %+v", text, cases)
		}
	}
}

// TestCasesStay pins the bytes of every file of every case. Evidence that was handed out has these forms. Another digest is right only where a case was added or
// is meant to be another.
func TestCasesStay(t *testing.T) {
	for part, want := range map[golden.Part]string{
		golden.Turns: "d6d054e12bc5c02836b55fed30158dcddb87c38b7125d3a7d2eb829db9d6e87d", golden.Facts: "2bfbaa4290ed5e9b41f7b086c864380a9cc0e980722475300e7ea4a3d118dddb", golden.Contexts: "74be265fe9f8598400b56665ee12bfe192d3a49ad78ceddcc5ec16587e530ac1", golden.Beliefs: "c8054552fc78c235761a375885a86d9ae9a31f4a44bc3f583c4ee85f6d88f2e3",
	} {
		cases, err := golden.EvidenceCases(part)
		if err != nil || len(cases) < 100 {
			t.Fatalf("%s: %d cases, %v", part, len(cases), err)
		}
		var lines []string
		for _, c := range cases {
			for name, data := range c.Files {
				lines = append(lines, fmt.Sprintf("%s/%s %x\n", c.Name, name, sha256.Sum256(data)))
			}
		}
		slices.Sort(lines)
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "")))); got != want {
			t.Errorf("%s has the digest %s, want %s", part, got, want)
		}
	}
}
