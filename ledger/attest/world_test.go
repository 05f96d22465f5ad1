package attest_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

const (
	origin  = "default.kernel.example"
	erased  = "00000000-0000-4000-8000-000000000002" // its body was deleted
	helping = "00000000-0000-4000-8000-000000000003"
	closing = "00000000-0000-4000-8000-000000000004" // the anchor
)

// meeting is a bundle of four turns: a guest asks, a helper answers (that text is
// erased), a second helper is spawned, and its result is merged back.
func meeting() *slice.Bundle {
	turn := func(last, author, content string) (*dag.Turn, *dag.Body) {
		id := must(dag.ParseTurnID("00000000-0000-4000-8000-00000000000" + last))
		body := &dag.Body{Author: author, Content: content, Attrs: map[string]string{}, Salt: dag.Salt{last[0]}}
		role := dag.RoleAssistant
		if strings.HasPrefix(author, "human:") {
			role = dag.RoleUser
		}
		return &dag.Turn{
			ID: id, Conversation: must(dag.ParseConversationID("00000000-0000-4000-9000-000000000001")), Role: role,
			Phase: dag.Planning, Salience: 700_000, CreatedAt: 1767323045_000000 + dag.Time(last[0]), BodyDigest: slice.DigestBody(slice.AppendBody(nil, body), body.Salt),
		}, body
	}
	type said struct {
		turn    *dag.Turn
		body    *dag.Body
		parents []dag.Parent
	}
	line := func(last, author, content string, parents ...dag.Parent) said {
		t, b := turn(last, author, content)
		return said{t, b, parents}
	}
	from := func(last string, kind dag.EdgeKind) dag.Parent {
		return dag.Parent{ID: must(dag.ParseTurnID("00000000-0000-4000-8000-00000000000" + last)), Kind: kind}
	}
	lines := []said{
		line("1", "human:guest", "Which of the two rooms is larger?"),
		line("2", "agent:helper", "The one in the east.", from("1", dag.Reply)),
		line("3", "agent:helper 2", "Measured: 41 and 38 square metres — \"east\" wins.", from("2", dag.Spawn)),
		line("4", "agent:helper", "East, by 3 square metres.", from("1", dag.Reply), from("3", dag.Merge)),
	}
	g := dag.NewGraph()
	for i, l := range lines {
		s := &dag.Skeleton{
			Seq: dag.Seq(i + 1), ID: l.turn.ID, Conversation: l.turn.Conversation, CreatedAt: l.turn.CreatedAt, Salience: l.turn.Salience,
			Role: l.turn.Role, Phase: l.turn.Phase, Leaf: slice.TurnLeaf(l.turn),
		}
		for _, p := range l.parents {
			edge := dag.Edge{Parent: p.ID, Child: l.turn.ID, Kind: p.Kind}
			s.Parents = append(s.Parents, dag.SkeletonParent{ID: p.ID, Conversation: l.turn.Conversation, Kind: p.Kind, Leaf: slice.EdgeLeaf(edge)})
		}
		if err := g.Add(s); err != nil {
			panic(err)
		}
	}
	cut := must(slice.Cut(g.At(4), must(dag.ParseTurnID(closing)), must(policy.Bind("default@1", policy.DefaultV1())), nil))
	seal := slice.Seal{Tenant: "default", KeyID: "k1", Token: "00112233445566778899aabbccddeeff"}
	return must(slice.ParseBundle(slice.AppendBundle(nil, cut, seal, func(i int) slice.EncodedTurn {
		l := lines[i]
		body := slice.AppendBody(nil, l.body)
		if l.turn.ID.String() == erased {
			body = nil
		}
		return must(slice.EncodeTurn(l.turn, body, l.body.Salt))
	})))
}

// without takes the text of a turn out of a bundle.
func without(b *slice.Bundle, turn string) *slice.Bundle {
	shorter := *b
	shorter.Turns = append([]slice.BundleTurn(nil), b.Turns...)
	for i := range shorter.Turns {
		if shorter.Turns[i].ID.String() == turn {
			shorter.Turns[i].Body = nil
		}
	}
	return &shorter
}

func digestOf(b *slice.Bundle) dag.Digest { return sha256.Sum256(b.Append(nil)) }

func whyErased(dag.TurnID) attest.Why { return attest.Erased }

// issued is the statement about meeting.
func issued() *attest.Statement {
	b := meeting()
	at := must(dag.ParseTime("2026-01-02T03:04:05.000006Z"))
	return attest.NewStatement(b, digestOf(b), at, 61702, origin, whyErased)
}

// hand returns an attestation key that is the same in every run.
func hand(seed byte) (attest.Signer, ledger.Key) {
	s, key, err := attest.NewSigner(origin, ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), ed25519.SeedSize))))
	if err != nil {
		panic(err)
	}
	return s, key
}

// trusting looks up among keys.
func trusting(keys ...ledger.Key) func(string) (ledger.Key, bool) {
	return func(id string) (ledger.Key, bool) {
		for _, k := range keys {
			if k.HexID() == id {
				return k, true
			}
		}
		return ledger.Key{}, false
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestMeetingHolds(t *testing.T) {
	b := meeting()
	if len(b.Turns) != 4 || len(b.Redacted()) != 1 {
		t.Fatalf("%d turns, %d redacted; want 4 and 1", len(b.Turns), len(b.Redacted()))
	}
	for _, c := range b.Check() {
		if c.Status != slice.StatusOK {
			t.Errorf("%s: %s %s", c.ID, c.Status, c.Detail)
		}
	}
}
