package space_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// TestArtifactsOfBeliefs states something with artifacts, follows an address to one as of then and now, links to it, refuses a location with a secret, copies the
// store, and erases the turn that it rests on.
func TestArtifactsOfBeliefs(t *testing.T) {
	ctx := t.Context()
	s := stores["sqlite"](t)
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	turns := chain(t, k, 2)
	believing(t, k, "says")
	list := []belief.Artifact{
		{Name: "b", Location: "https://files.example/b", MediaType: "text/html", Size: 7, SHA256: dag.Digest{2}},
		{Name: "a", Location: "a.pdf", MediaType: "application/pdf", Size: 3, SHA256: dag.Digest{1}},
	}
	r := asking(journal.Revise, "plan", "says", "go")
	r.Item, r.Artifacts, r.Turns = "kref://acme/desk/plan.reference", list, turns[:1]
	first := must(k.Beliefs().Operate(ctx, tenant, r))
	r.Statements[0].Object, r.Artifacts, r.Turns = "stop", nil, nil
	must(k.Beliefs().Operate(ctx, tenant, r))
	at := func(query string) (*belief.Artifact, error) {
		kref, err := k.Beliefs().Kref(ctx, tenant, must(belief.ParseAddress(string(r.Item)+query)))
		if err != nil {
			return nil, err
		}
		return kref.Artifact, nil
	}
	for query, want := range map[string]belief.Artifact{"?r=1&a=a": list[1], "?r=1&a=b": list[0], fmt.Sprintf("?seq=%d&a=a", first.Seq): list[1]} {
		if got, err := at(query); err != nil || *got != want {
			t.Errorf("%s: %+v, %v, want %+v", query, got, err, want)
		}
	}
	for _, query := range []string{"?a=a", "?r=1&a=c", "?r=3&a=a", "?t=published&a=a"} {
		if got, err := at(query); !errors.Is(err, journal.ErrNoItem) {
			t.Errorf("%s: %+v, %v", query, got, err)
		}
	}
	l := api.NewLink{From: string(r.Item) + "?r=2", Type: "referenced", To: string(r.Item) + "?r=1&a=a"}
	must(k.Beliefs().Link(ctx, tenant, l))
	l.From += "&a=a"
	if _, err := k.Beliefs().Link(ctx, tenant, l); !errors.Is(err, belief.ErrForm) {
		t.Errorf("a link from an artifact: %v", err)
	}
	r.Artifacts = []belief.Artifact{list[0], list[0]}
	if _, err := k.Beliefs().Operate(ctx, tenant, r); !errors.Is(err, belief.ErrForm) {
		t.Errorf("a name twice: %v", err)
	}
	soundly(t, s)
	other := stores["sqlite"](t)
	must(transfer.Copy(ctx, other, s, transfer.Options{}))
	copied := over(t, other, token.NewAuthority(ring(t, "k1")))
	kref := must(copied.Beliefs().Kref(ctx, tenant, must(belief.ParseAddress(string(r.Item)+"?r=1"))))
	if want := []belief.Artifact{list[1], list[0]}; !slices.Equal(kref.Revision.Artifacts, want) {
		t.Errorf("the copy has %+v, want %+v", kref.Revision.Artifacts, want)
	}
	must(k.Turns().Erase(ctx, tenant, turns[0], "gone"))
	if got, err := at("?r=1&a=a"); !errors.Is(err, journal.ErrNoItem) {
		t.Errorf("after the erasure of the turn: %+v, %v", got, err)
	}
	soundly(t, s)
}
