package evidence_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.name] {
			t.Fatalf("two cases %s", c.name)
		}
		seen[c.name] = true
		if strings.HasSuffix(c.name, "_fail") != (c.code != 0) {
			t.Errorf("%s expects %d", c.name, c.code)
		}
		got, err := os.ReadFile(filepath.Join(folder, c.name+golden.CaseSuffix))
		if want := must(golden.MarshalCase(c.folder())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not as the generator makes it (%v); if that is meant: go test ./evidence -run TestCorpus -update", c.name, err)
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
		if !seen[strings.TrimSuffix(f.Name(), golden.CaseSuffix)] {
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
	for _, c := range cases {
		if err := os.WriteFile(filepath.Join(folder, c.name+golden.CaseSuffix), must(golden.MarshalCase(c.folder())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
