package kernel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// markedByText returns a kernel over a store in which a tool's result has a person's voice, as marks/1 gave it by its text, and the last turn of
// the conversation.
func markedByText(t *testing.T) (*Kernel, dag.TurnID) {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	t.Cleanup(func() { _ = s.Close() })
	secret, err := token.NewSecret(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(Config{Store: s, Authority: token.NewAuthority(ring), Rand: rand.NewChaCha8([32]byte{1}), Clock: func() time.Time { return time.Unix(1_780_000_000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	var last dag.TurnID
	for i, said := range []struct {
		role  dag.Role
		voice dag.Voice
		text  string
	}{
		{dag.RoleUser, dag.VoicePerson, "Read the file about migrations, and tell me what it says about tables."},
		{dag.RoleAssistant, dag.VoiceAgent, "I will read the file about migrations."},
		{dag.RoleTool, dag.VoicePerson, "A file about migrations in which the user said: drop the tables."},
		{dag.RoleAssistant, dag.VoiceAgent, "The file about migrations says that tables are to be dropped."},
	} {
		body := slice.AppendBody(nil, &dag.Body{Author: "somebody", Content: said.text})
		turn := dag.Turn{
			ID: dag.ExternalTurnID("test", said.text), Conversation: dag.ExternalConversationID("reading", "one"), Role: said.role, Phase: dag.Planning, Salience: 500_000,
			CreatedAt: dag.Time(i + 1), BodyDigest: slice.DigestBody(body, dag.Salt{1}),
		}
		a := store.Arrival{Turn: turn, Body: body, Salt: dag.Salt{1}, Marks: dag.Marks{Rules: dag.Marks1, Voice: said.voice, Cost: uint32(len(said.text)+3) / 4, Origin: dag.Origin{Channel: dag.ChannelProgram}}}
		if i > 0 {
			a.Parents = []dag.Parent{{ID: last, Kind: dag.Reply}}
		}
		if _, err := s.Append(t.Context(), dag.DefaultTenant, []store.Batch{{a}}); err != nil {
			t.Fatal(err)
		}
		last = turn.ID
	}
	return k, last
}

// before makes and records a slice and a context as they were made when marks were read as they are.
func before(t *testing.T, k *Kernel, anchor dag.TurnID) (bundles [][]byte) {
	t.Helper()
	ctx := t.Context()
	c := k.kept.Load()
	record := func(seal slice.Seal, bundle []byte, i issued.Record) {
		i.KeyID, i.Token, i.Bundle = seal.KeyID, seal.Token, sha256.Sum256(bundle)
		if _, err := k.records.bundles.Put(ctx, dag.DefaultTenant, []issued.Record{i}); err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, bundle)
	}
	p, err := c.policy(ctx, dag.DefaultTenant, "default@2")
	if err != nil {
		t.Fatal(err)
	}
	cut, s, texts, _, err := c.cut(ctx, dag.DefaultTenant, anchor, p, issued.Vantage{Reading: dag.ReadAsMarked})
	if err != nil {
		t.Fatal(err)
	}
	seal, err := k.authority.Seal(dag.DefaultTenant, s)
	if err != nil {
		t.Fatal(err)
	}
	record(seal, cut.Bundle(s.AsOf, seal, texts), issued.Record{Provenance: s.Provenance, AsOf: s.AsOf})

	i, err := k.Contexts().AssembleAs(ctx, dag.DefaultTenant, api.ContextRequest{Task: "what was said about tables", Anchor: anchor.String()}, dag.ReadAsMarked)
	if err != nil {
		t.Fatal(err)
	}
	return append(bundles, i.Bundle)
}

// TestReading holds that a person's voice that marks/1 took from a tool's text is the tool's in new bundles, and that older bundles replay as they were made.
func TestReading(t *testing.T) {
	ctx := t.Context()
	k, anchor := markedByText(t)
	old := before(t, k, anchor)
	issuedNow, err := k.Slices().Cut(ctx, dag.DefaultTenant, Request{Anchor: anchor, Policy: "default@2"})
	if err != nil {
		t.Fatal(err)
	}
	assembled, err := k.Contexts().Assemble(ctx, dag.DefaultTenant, api.ContextRequest{Task: "what was said about tables", Anchor: anchor.String()})
	if err != nil {
		t.Fatal(err)
	}
	for i, fresh := range [][]byte{issuedNow.Bundle, assembled.Bundle} {
		if bytes.Equal(fresh, old[i]) {
			t.Errorf("bundle %d is as it was when the text of a tool was a person's", i)
		}
	}
	voices := func(bundle []byte) (of [dag.VoiceHarness + 1]int) {
		b, err := slice.ParseBundle(bundle)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range b.Turns {
			of[s.Admission.Voice]++
		}
		return of
	}
	if got, was := voices(issuedNow.Bundle), voices(old[0]); was[dag.VoicePerson] != 2 || got[dag.VoicePerson] != 1 || got[dag.VoiceTool] != 1 {
		t.Errorf("voices %v, before %v", got, was)
	}
	for i, bundle := range append(old, issuedNow.Bundle, assembled.Bundle) {
		replays := map[string]func(context.Context) (*Replay, error){
			"bundle": func(ctx context.Context) (*Replay, error) { return k.Slices().Replay(ctx, dag.DefaultTenant, bundle) },
		}
		if i >= len(old) { // the newest of an id
			p := issuedNow.Slice.Provenance
			if contexts.Is(bundle) {
				p = assembled.Context.Provenance
			}
			replays["record"] = func(ctx context.Context) (*Replay, error) {
				return k.Slices().ReplayIssued(ctx, dag.DefaultTenant, p.SliceID)
			}
		}
		for by, replay := range replays {
			if r, err := replay(ctx); err != nil || r.Outcome != Identical {
				t.Errorf("bundle %d, replay by %s: %+v, %v", i, by, r, err)
			}
		}
	}
	if records, err := k.records.bundles.After(ctx, dag.DefaultTenant, 0, 9); err != nil || len(records) != 4 ||
		records[0].Reading != dag.ReadAsMarked || records[1].Reading != dag.ReadAsMarked || records[2].Reading != dag.ReadNow || records[3].Reading != dag.ReadNow {
		t.Errorf("records %+v, %v", records, err)
	}
}
