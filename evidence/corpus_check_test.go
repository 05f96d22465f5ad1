package evidence_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/token"
)

type expectation struct {
	ExitCode int      `json:"exit_code"`
	Verdict  string   `json:"verdict"`
	Args     []string `json:"args,omitempty"`
	Fails    []string `json:"fails,omitempty"`
}

// folder returns the files of a case's folder.
func (c *corpusCase) folder() map[string][]byte {
	files := map[string][]byte{"README.md": []byte(c.why + "\n")}
	for name, data := range c.files {
		files["evidence/"+name] = data
	}
	if c.trust != "" {
		files["trust"] = []byte(c.trust)
	}
	if c.secret != "" {
		files["secret"] = []byte(c.secret + "\n")
	}
	expect := must(json.MarshalIndent(expectation{c.code, c.verdict, c.args, c.fails}, "", "  "))
	files["expect.json"] = append(expect, '\n')
	return files
}

// TestCorpus compares the cases of each part in golden with what they are made to be, byte for byte, and judges them.
func TestCorpus(t *testing.T) {
	t.Run("turns", func(t *testing.T) { checkCorpus(t, corpusFolder, makeCorpus(t), len(codes)) })
	t.Run("facts", func(t *testing.T) { checkCorpus(t, factsFolder, makeFactsCorpus(t), 10) })
	t.Run("contexts", func(t *testing.T) { checkCorpus(t, contextsFolder, makeContextsCorpus(t), 9) })
	t.Run("beliefs", func(t *testing.T) { checkCorpus(t, beliefsFolder, makeBeliefsCorpus(t), 8) })
}

func checkCorpus(t *testing.T, folder string, cases []corpusCase, kinds int) {
	if *update {
		writeCorpus(t, folder, cases)
	}
	seen, made := map[string]bool{}, subjectsOf(cases)
	for subject, want := range made {
		if got, err := os.ReadFile(filepath.Join(folder, subject+golden.FileSuffix)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the cases %s of %s are not as the generator makes them (%v); if that is meant: go test ./evidence -run TestCorpus -update", changed(got, want), subject, err)
		}
	}
	for _, c := range cases {
		if seen[c.name] {
			t.Fatalf("two cases %s", c.name)
		}
		seen[c.name] = true
		if strings.HasSuffix(c.name, "_fail") != (c.code != 0) {
			t.Errorf("%s expects %d", c.name, c.code)
		}
		if c.verdict == "usage" {
			_, err := ledger.ParseTrust([]byte(c.trust))
			requires := c.files[nowFile] != nil && slices.Contains(c.args, "--require-full") // for the command to refuse
			if requires == errors.Is(err, ledger.ErrTrust) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		v := c.judge(t)
		if string(v.Outcome) != c.verdict {
			t.Errorf("%s: %s (%s), want %s", c.name, v.Outcome, v.Reason, c.verdict)
		}
		if v.Outcome != evidence.Verified && v.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if made[strings.TrimSuffix(f.Name(), golden.FileSuffix)] == nil {
			t.Errorf("%s/%s is made by nobody", folder, f.Name())
		}
	}
	outcomes := map[string]int{}
	for _, c := range cases {
		outcomes[c.verdict]++
	}
	if len(cases) < 100 || len(outcomes) != kinds {
		t.Errorf("%d cases with %d outcomes: %v", len(cases), len(outcomes), outcomes)
	}
	t.Logf("%d cases: %v", len(cases), outcomes)
}

func (c *corpusCase) judge(t testing.TB) evidence.Verdict {
	t.Helper()
	j := evidence.Judge{RequireFull: slices.Contains(c.args, "--require-full")}
	if c.trust != "" {
		j.Trust = must(ledger.ParseTrust([]byte(c.trust)))
	}
	if c.secret != "" {
		j.Keys = token.NewAuthority(keyring(c.secret))
	}
	f := evidence.Files{
		Bundle: bytes.TrimSuffix(c.files[bundleFile], []byte("\n")), Disclosure: bytes.TrimSuffix(c.files[partFile], []byte("\n")), Attestation: c.files[attestFile], Proof: c.files[proofFile],
		Checkpoint: c.files[nowFile], OldCheckpoint: c.files[oldFile], Consistency: c.files[stepFile],
	}
	if c.files[bundleFile] == nil {
		f.Bundle = nil
	}
	if c.files[partFile] == nil {
		f.Disclosure = nil
	}
	return j.Judge(f)
}

func writeCorpus(t *testing.T, folder string, cases []corpusCase) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	for subject, data := range subjectsOf(cases) {
		if err := os.WriteFile(filepath.Join(folder, subject+golden.FileSuffix), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// changed returns the names of the cases that are not the same in two files.
func changed(a, b []byte) (names []string) {
	is, want := map[string]map[string][]byte{}, must(golden.ParseCases(b))
	if cases, err := golden.ParseCases(a); err == nil {
		is = cases
	}
	for _, cases := range []map[string]map[string][]byte{is, want} {
		for name := range cases {
			if !maps.EqualFunc(is[name], want[name], bytes.Equal) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// subjectsOf returns the files of cases by their subjects.
func subjectsOf(cases []corpusCase) map[string][]byte {
	of := map[string]map[string]map[string][]byte{}
	for _, c := range cases {
		subject := golden.SubjectOf(c.name)
		if of[subject] == nil {
			of[subject] = map[string]map[string][]byte{}
		}
		of[subject][c.name] = c.folder()
	}
	files := map[string][]byte{}
	for subject, cases := range of {
		files[subject] = must(golden.MarshalCases(cases))
	}
	return files
}

// TestSince asks for fresh cosignatures: a checkpoint that is shown years later has none.
func TestSince(t *testing.T) {
	w := newWorld(t)
	i := w.slice(7)
	e := w.attest(i, 0, 1)
	files := evidence.Files{Bundle: i.Bundle, Attestation: e.Envelope, Proof: e.Proof}
	j := evidence.Judge{Trust: must(ledger.ParseTrust([]byte(w.trustAll())))}
	for _, c := range []struct {
		since time.Time
		want  evidence.Outcome
	}{{time.Time{}, evidence.Verified}, {w.now, evidence.Verified}, {w.now.Add(time.Second), evidence.QuorumNotMet}} {
		j.Since = c.since
		if v := j.Judge(files); v.Outcome != c.want {
			t.Errorf("since %s: %s: %s, want %s", c.since, v.Outcome, v.Reason, c.want)
		}
	}
}
