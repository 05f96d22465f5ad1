package ingest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// planted is a secret that the rule github-pat knows, made of parts.
func planted(n int) string { return "ghp_" + fmt.Sprintf("wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0p%04d", n) }

func screenBy(p secrets.Policy) *secrets.Screen {
	return secrets.NewScreen(p, func() (secrets.Key, error) { return secrets.Key{1}, nil })
}

// talk is a session in which the second and the fourth turn have secrets.
func talk(t *testing.T) string {
	var s transcript
	parent := ""
	for i, text := range []string{"hello", "use " + planted(1), "done", "and " + planted(1) + " and " + planted(2), "bye"} {
		name := fmt.Sprint("u", i)
		s.add(`"type":"user","uuid":%q,"parentUuid":%s,"cwd":"/srv/%s","message":{"role":"user","content":%q}`, name, link(parent), planted(3), text)
		parent = name
	}
	return write(t, "s.jsonl", s.text())
}

func TestSecrets(t *testing.T) {
	path := talk(t)
	plain, _ := collect(t, path, Options{})
	if len(plain) != 5 {
		t.Fatalf("%d turns", len(plain))
	}
	read := func(p secrets.Policy) ([]dag.Draft, Report, []Secret) {
		var told []Secret
		drafts, report := collect(t, path, Options{Secrets: screenBy(p), Secret: func(s Secret) { told = append(told, s) }})
		return drafts, report, told
	}

	reported, report, told := read(secrets.Report)
	if diff := cmp.Diff(plain, reported); diff != "" {
		t.Errorf("report changes: %s", diff)
	}
	want := map[string]int{"github-pat": 8}
	if diff := cmp.Diff(want, report.Secrets); diff != "" || len(told) != 8 {
		t.Errorf("%d were told; %s", len(told), diff)
	}
	if s := told[1]; !strings.HasSuffix(s.Place, "s.jsonl:2") || s.Turn != plain[1].ID || s.Rule != "github-pat" || s.In != "content" || s.Done != secrets.Report {
		t.Errorf("%+v", s)
	}

	redacted, report, _ := read(secrets.Redact)
	if text := fmt.Sprintf("%+v", redacted); strings.Contains(text, "ghp_") || strings.Count(text, "[secret:github-pat:") != 8 {
		t.Errorf("%s", text)
	}
	if diff := cmp.Diff(want, report.Secrets); diff != "" {
		t.Error(diff)
	}
	for i := range redacted {
		if redacted[i].ID != plain[i].ID || !slices.Equal(redacted[i].Parents, plain[i].Parents) || redacted[i].Attrs["cwd"] == plain[i].Attrs["cwd"] {
			t.Errorf("turn %d is %+v, was %+v", i, redacted[i], plain[i])
		}
	}
	if again, _, _ := read(secrets.Redact); !cmp.Equal(again, redacted) {
		t.Error("another time it is redacted otherwise")
	}

	none, report, _ := read(secrets.Refuse)
	if len(none) != 0 || report.Skipped["secret"] != 5 || report.Secrets["github-pat"] != 8 {
		t.Errorf("%d turns; %+v", len(none), report)
	}
}

// TestRefusedIsSkipped has what follows a refused turn hang on what precedes it.
func TestRefusedIsSkipped(t *testing.T) {
	var s transcript
	s.add(`"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"a"}`)
	s.add(`"type":"user","uuid":"u1","parentUuid":"u0","message":{"role":"user","content":%q}`, planted(1))
	s.add(`"type":"user","uuid":"u2","parentUuid":"u1","message":{"role":"user","content":"c"}`)
	drafts, report := collect(t, write(t, "s.jsonl", s.text()), Options{Secrets: screenBy(secrets.Refuse)})
	if len(drafts) != 2 || len(drafts[1].Parents) != 1 || drafts[1].Parents[0].ID != drafts[0].ID || report.Skipped["secret"] != 1 {
		t.Errorf("%+v\n%+v", drafts, report)
	}
}

// TestSecretsOfOwnLines has lines with a salt kept as they are, and a refused line end the import.
func TestSecretsOfOwnLines(t *testing.T) {
	line := func(n int, salt *dag.Salt, text string) string {
		d := dag.Draft{ID: dag.ExternalTurnID("t", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("t", "c"), Role: dag.RoleUser, CreatedAt: 1, Author: "human:a", Content: text, Salt: salt}
		out, err := AppendLine(nil, &d)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	path := write(t, "own.jsonl", line(1, nil, planted(1))+line(2, &dag.Salt{1}, planted(1)))
	drafts, report := collect(t, path, Options{Secrets: screenBy(secrets.Redact)})
	if len(drafts) != 2 || strings.Contains(drafts[0].Content, "ghp_") || drafts[1].Content != planted(1) {
		t.Errorf("%+v", drafts)
	}
	if report.Secrets["github-pat"] != 2 || report.Noted["secret_kept"] != 1 {
		t.Errorf("%+v", report)
	}
	_, _, err := tryCollect(t, path, Options{Secrets: screenBy(secrets.Refuse)})
	if !errors.Is(err, ErrSecret) || !strings.Contains(err.Error(), "own.jsonl:1") || !strings.Contains(err.Error(), "github-pat") || strings.Contains(err.Error(), "ghp_") {
		t.Errorf("refused: %v", err)
	}
}

func TestSecretsWithoutAKey(t *testing.T) {
	none := errors.New("no key")
	screen := secrets.NewScreen(secrets.Redact, func() (secrets.Key, error) { return secrets.Key{}, none })
	emitted := 0
	_, err := Read(t.Context(), talk(t), Options{Secrets: screen}, func(b *Batch) error { emitted += len(b.Drafts); return nil })
	if !errors.Is(err, none) || emitted != 0 {
		t.Errorf("%d turns, %v", emitted, err)
	}
}

// TestLongAttribute has a token that does not fit where the secret did.
func TestLongAttribute(t *testing.T) {
	var s transcript
	long := strings.Repeat("/x", 500) + "/AKIA" + "LALEMEL33243OLIB"
	s.add(`"type":"user","uuid":"u0","parentUuid":null,"cwd":%q,"message":{"role":"user","content":"a"}`, long)
	path := write(t, "s.jsonl", s.text())
	if drafts, _ := collect(t, path, Options{}); drafts[0].Attrs["cwd"] != long {
		t.Fatalf("%+v", drafts)
	}
	drafts, report := collect(t, path, Options{Secrets: screenBy(secrets.Redact)})
	if _, has := drafts[0].Attrs["cwd"]; len(drafts) != 1 || has || report.Noted["attr_left_out"] != 1 || report.Secrets["aws-access-token"] != 1 {
		t.Errorf("%+v, %+v", drafts, report)
	}
}

// TestFalseAlarms reads real transcripts, out of which real secrets were taken before they were published.
func TestFalseAlarms(t *testing.T) {
	turns, found, folders := 0, map[string]int{}, 0
	for _, name := range []string{"entire", "claude-code", "tau-bench"} {
		drafts, report := collect(t, realData(t, name), Options{Secrets: screenBy(secrets.Report), Secret: func(s Secret) {
			t.Logf("%s: %s in %s", filepath.Base(s.Place), s.Rule, s.In)
		}})
		turns += len(drafts)
		folders++
		for _, rule := range slices.Sorted(maps.Keys(report.Secrets)) {
			found[rule] += report.Secrets[rule]
		}
	}
	alarms := 0
	for _, n := range found {
		alarms += n
	}
	if t.Logf("%d turns of %d folders: %v", turns, folders, found); alarms > turns/1000 || turns < 1000 {
		t.Errorf("%d alarms in %d turns: %v", alarms, turns, found)
	}
}
