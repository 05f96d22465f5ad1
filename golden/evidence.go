package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// An EvidenceCase is a folder of evidence, with what a verifier must make of it
// (docs/evidence.md, section 8, docs/knowledge.md for those of facts, docs/contexts.md for those of contexts, docs/belief.md for those of beliefs).
type EvidenceCase struct {
	Name     string // ends in _fail unless the exit code is 0
	Why      string
	Evidence map[string][]byte // the files of the folder
	Trust    []byte            // a trust file; nil: none is given
	KeyID    string            // of the token's secret; "": none is given
	Secret   string            // hex
	Args     []string          // beside the folder and the trust file
	ExitCode int
	Verdict  string
	Beside   map[string][]byte // the files beside the folder, as they are in the part's folder
}

// A Part is the folder of one part of the cases.
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
	folders, err := readDir(string(part))
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	cases := make([]EvidenceCase, 0, len(folders))
	for _, f := range folders {
		c, err := readEvidenceCase(part, f.Name())
		if err != nil {
			return nil, fmt.Errorf("golden: %s/%s: %w", part, f.Name(), err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func readEvidenceCase(part Part, name string) (EvidenceCase, error) {
	c := EvidenceCase{Name: name, Evidence: map[string][]byte{}}
	folder := path.Join(string(part), name)
	why, err := readFile(path.Join(folder, "README.md"))
	if err != nil {
		return c, err
	}
	c.Why = strings.TrimSpace(string(why))
	if c.Trust, err = optional(path.Join(folder, "trust")); err != nil {
		return c, err
	}
	secret, err := optional(path.Join(folder, "secret"))
	if err != nil {
		return c, err
	}
	c.KeyID, c.Secret, _ = strings.Cut(strings.TrimSpace(string(secret)), " ")
	text, err := readFile(path.Join(folder, "expect.json"))
	if err != nil {
		return c, err
	}
	expect := struct {
		ExitCode *int     `json:"exit_code"`
		Verdict  string   `json:"verdict"`
		Args     []string `json:"args"`
	}{}
	if err := json.Unmarshal(text, &expect); err != nil || expect.ExitCode == nil {
		return c, fmt.Errorf("expect.json: no exit_code, or %w", err)
	}
	c.ExitCode, c.Verdict, c.Args = *expect.ExitCode, expect.Verdict, expect.Args
	beside, err := readDir(folder)
	if err != nil {
		return c, err
	}
	c.Beside = map[string][]byte{}
	for _, f := range beside {
		if f.IsDir() {
			continue
		}
		if c.Beside[f.Name()], err = readFile(path.Join(folder, f.Name())); err != nil {
			return c, err
		}
	}
	files, err := readDir(path.Join(folder, "evidence"))
	if err != nil {
		return c, err
	}
	for _, f := range files {
		if c.Evidence[f.Name()], err = readFile(path.Join(folder, "evidence", f.Name())); err != nil {
			return c, err
		}
	}
	return c, nil
}

func optional(name string) ([]byte, error) {
	data, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
