package golden

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// An EvidenceCase is a folder of evidence, as the file of its subject has it, with what a verifier must make of it
// (docs/evidence.md, section 8, docs/knowledge.md for those of facts, docs/contexts.md for those of contexts, docs/belief.md for those of beliefs).
type EvidenceCase struct {
	Name     string // ends in _fail unless the exit code is 0
	Why      string
	Trust    []byte   // a trust file; nil: none is given
	KeyID    string   // of the token's secret; "": none is given
	Secret   string   // hex
	Args     []string // beside the folder and the trust file
	ExitCode int
	Verdict  string
	Files    map[string][]byte // all files of the case by their paths; those below evidence/ are judged
}

// Evidence returns the files of the folder that is judged, by their names.
func (c *EvidenceCase) Evidence() map[string][]byte {
	files := map[string][]byte{}
	for at, data := range c.Files {
		if name, ok := strings.CutPrefix(at, "evidence/"); ok {
			files[name] = data
		}
	}
	return files
}

// A Part is the folder with one part of the cases, a file for each subject.
type Part string

// The parts. A verifier that knows bundles of turns alone is measured by the first.
const (
	Turns    Part = "verify"
	Facts    Part = "verify-facts"
	Contexts Part = "verify-contexts"
	Beliefs  Part = "verify-beliefs"
)

// EvidenceCases returns the cases of a part that ship with the project, by name.
func EvidenceCases(part Part) ([]EvidenceCase, error) {
	list, err := readDir(string(part))
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	var cases []EvidenceCase
	for _, f := range list {
		data, err := readFile(path.Join(string(part), f.Name()))
		if err != nil {
			return nil, fmt.Errorf("golden: %w", err)
		}
		of, err := casesOf(f.Name(), data)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", part, f.Name(), err)
		}
		cases = append(cases, of...)
	}
	slices.SortFunc(cases, func(a, b EvidenceCase) int { return strings.Compare(a.Name, b.Name) })
	return cases, nil
}

// casesOf returns the cases in the file of a subject, in any order.
func casesOf(file string, data []byte) (cases []EvidenceCase, err error) {
	of, err := ParseCases(data)
	if err != nil {
		return nil, err
	}
	for name, files := range of {
		if SubjectOf(name)+FileSuffix != file {
			return nil, fmt.Errorf("case %s is of another subject", name)
		}
		c, err := newEvidenceCase(name, files)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func newEvidenceCase(name string, files map[string][]byte) (EvidenceCase, error) {
	c := EvidenceCase{Name: name, Files: files}
	expect := struct {
		ExitCode *int     `json:"exit_code"`
		Verdict  string   `json:"verdict"`
		Args     []string `json:"args"`
	}{}
	if err := json.Unmarshal(c.Files["expect.json"], &expect); err != nil || expect.ExitCode == nil {
		return c, fmt.Errorf("expect.json: no exit_code, or %w", err)
	}
	c.ExitCode, c.Verdict, c.Args = *expect.ExitCode, expect.Verdict, expect.Args
	c.Why, c.Trust = strings.TrimSpace(string(c.Files["README.md"])), c.Files["trust"]
	c.KeyID, c.Secret, _ = strings.Cut(strings.TrimSpace(string(c.Files["secret"])), " ")
	return c, nil
}
