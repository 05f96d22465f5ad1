package space_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
)

// reading is all that can be read of a space as of a number, as text: what is believed with its ranks, and each item with its revisions and tags.
func (c *clocked) reading(t *testing.T, asOf dag.Seq) string {
	t.Helper()
	var b strings.Builder
	for _, h := range must(c.Beliefs().Held(t.Context(), tenant, beliefSpace, asOf, nil)).Held {
		fmt.Fprintf(&b, "%s r%d %s %v %+v\n", h.Revision.Item, h.Revision.Number, h.Stated().Literal, h.Stated().Span, h.Element().Rank)
	}
	for _, listed := range must(c.Beliefs().ItemsNow(t.Context(), tenant, beliefSpace, "", 1000, asOf)) {
		item := listed.Item
		k := must(c.Beliefs().Kref(t.Context(), tenant, belief.Address{Item: item, Seq: asOf}))
		fmt.Fprintf(&b, "%s deprecated %t %v\n", item, k.Record.Deprecated, k.Record.Tags)
		for _, r := range k.Record.Revisions {
			fmt.Fprintf(&b, "  %d %q %q %s %v %v\n", r.Number, r.Title, r.Reason, r.Confidence, r.At, r.Statements)
		}
	}
	return b.String()
}

// aged fills a space with items in all states that archiving looks at.
func (c *clocked) aged(t *testing.T, r *rand.Rand) {
	t.Helper()
	ctx := t.Context()
	for i := range 12 {
		c.days(r.IntN(20))
		in := asking(journal.Revise, fmt.Sprint("s", r.IntN(4)), "lives-in", fmt.Sprint("o", r.IntN(3)))
		in.Item, in.Confidence, in.Title = belief.Item(fmt.Sprintf("kref://acme/desk/%d.%s", i, []string{"fact", "observation"}[i%2])), new(dag.PPM(r.IntN(500_000))), "t"
		if r.IntN(3) == 0 {
			in.ValidUntil = new(dag.Time(c.now.UnixMicro()) + 1 + dag.Time(r.IntN(100))*86_400_000_000)
		}
		if o := must(c.Beliefs().Operate(ctx, tenant, in)); o.Result != journal.Changed {
			continue
		}
		switch r.IntN(5) {
		case 0:
			must(c.Beliefs().Used(ctx, tenant, api.BeliefUse{Ref: string(in.Item), Success: true}))
		case 1:
			must(c.Beliefs().Act(ctx, tenant, journal.Act{Item: in.Item, Deprecates: true}))
		case 2:
			must(c.Beliefs().Act(ctx, tenant, journal.Act{Item: in.Item, Tag: "mine", Number: 1}))
		case 3:
			must(c.Beliefs().Decay(ctx, tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0))}))
		}
	}
}

// save archives what is to be archived, as a caller does who keeps the file.
func (c *clocked) save(t *testing.T) api.Archive {
	t.Helper()
	head := c.head(t)
	dry := must(c.Beliefs().Archive(t.Context(), tenant, api.ArchiveRequest{Space: beliefSpace}))
	if c.head(t) != head {
		t.Fatal("something was recorded before there was a file")
	}
	done := must(c.Beliefs().Archive(t.Context(), tenant, api.ArchiveRequest{Space: beliefSpace, SHA256: dry.SHA256}))
	if done.SHA256 != dry.SHA256 || sha256.Sum256([]byte(dry.Document)) != dry.SHA256 {
		t.Fatal("the two documents differ")
	}
	done.Document = dry.Document
	return done
}

// TestArchiveAndBack: what is archived is what the rule says, the rest of the base stays, restoring gives back the very base, and no reading as of an earlier number ever changes.
func TestArchiveAndBack(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	archived, stayed := 0, 0
	for range 25 {
		c := newClocked(t)
		ctx := t.Context()
		c.aged(t, r)
		c.days(60 + r.IntN(80))
		head := c.head(t)
		middle := head/2 + 1
		before, earlier := c.reading(t, head), c.reading(t, middle)
		base := stated(t, c.Kernel, 0)
		done := c.save(t)
		archived, stayed = archived+len(done.Items), stayed+12-len(done.Items)
		for _, item := range done.Items {
			k := must(c.Beliefs().Kref(ctx, tenant, belief.Address{Item: item.Item}))
			if !k.Record.Deprecated || item.Confidence >= 300_000 || dag.Time(c.now.UnixMicro())-item.LastUsed < 90*86_400_000_000 || item.Seq == 0 {
				t.Fatalf("%+v was archived: %+v", item, k.Record)
			}
			if k.Revision != nil && !slices.ContainsFunc(k.Revision.Statements, func(s journal.Stated) bool { return s.Span.Until <= dag.Time(c.now.UnixMicro()) }) {
				t.Fatalf("%+v was archived, and is believed: %+v", item, k.Revision)
			}
		}
		if again := c.save(t); len(again.Items) != 0 {
			t.Fatalf("the second time: %+v", again.Items)
		}
		if got := c.reading(t, head); got != before {
			t.Fatalf("as of %d it was\n%sand is\n%s", head, before, got)
		}
		head = c.head(t)
		if dry := must(c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: done.Document, DryRun: true})).Items; len(dry) != len(done.Items) || c.head(t) != head {
			t.Fatalf("dry: %+v", dry)
		}
		for _, one := range must(c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: done.Document})).Items {
			if one.Outcome != journal.Changed || one.Seq == 0 {
				t.Fatalf("%+v", one)
			}
		}
		if got := stated(t, c.Kernel, 0); !slices.Equal(got, base) {
			t.Fatalf("the base was %q, and is %q", base, got)
		}
		if got := c.reading(t, 0); got != before {
			t.Fatalf("it was\n%sand is\n%s", before, got)
		}
		for _, one := range must(c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: done.Document})).Items {
			if one.Outcome != journal.Unchanged {
				t.Fatalf("the second time: %+v", one)
			}
		}
		if again := c.save(t); len(again.Items) != 0 {
			t.Fatalf("what was restored is archived at once: %+v", again.Items)
		}
		if got := c.reading(t, middle); got != earlier {
			t.Fatalf("earlier it was\n%sand is\n%s", earlier, got)
		}
		soundly(t, c.store)
		projected(t, c.Kernel)
	}
	if archived < 30 || stayed < 30 {
		t.Errorf("%d archived, %d stayed", archived, stayed)
	}
}

// TestArchiveMangled changes bytes of an archive: each time it is refused, and nothing is recorded.
func TestArchiveMangled(t *testing.T) {
	c := newClocked(t)
	ctx := t.Context()
	c.say(t, "a.fact", "a", 100_000)
	c.say(t, "b.fact", "b", 200_000)
	c.say(t, "c.fact", "c", dag.One)
	for _, subject := range []string{"a", "b"} {
		must(c.Beliefs().Operate(ctx, tenant, asking(journal.Contract, subject, "is", "kept")))
	}
	if done := c.save(t); len(done.Items) != 0 {
		t.Fatalf("at once: %+v", done.Items)
	}
	c.days(90)
	done := c.save(t)
	if len(done.Items) != 2 || done.Left != 0 {
		t.Fatalf("%+v", done)
	}
	head := c.head(t)
	for i := range done.Document {
		for _, x := range []byte{done.Document[i] ^ 1, done.Document[i] ^ 0x20, '\n', ' ', '0'} {
			if x == done.Document[i] {
				continue
			}
			bad := []byte(done.Document)
			bad[i] = x
			if list, err := c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: string(bad)}); !errors.Is(err, journal.ErrArchive) {
				t.Fatalf("byte %d, %q for %q: %+v, %v", i, x, done.Document[i], list, err)
			}
		}
	}
	lines := strings.SplitAfter(string(done.Document), "\n")
	for name, bad := range map[string]string{
		"nothing": "", "no header": lines[1], "out of order": lines[0] + lines[2] + lines[1], "twice": lines[0] + lines[1] + lines[1], "cut": strings.TrimSuffix(string(done.Document), "\n"),
		"another space": strings.Replace(lines[0], "acme/desk", "acme/shop", 1) + lines[1], "another tenant": strings.Replace(lines[0], "default", "other", 1) + lines[1],
		"another item": lines[0] + strings.ReplaceAll(lines[1], "a.fact", "d.fact"), "a number": lines[0] + strings.Replace(lines[1], `"seq":`, `"seq":1`, 1),
	} {
		if _, err := c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: bad}); !errors.Is(err, journal.ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.head(t) != head {
		t.Errorf("the head is %d and was %d", c.head(t), head)
	}
	if list := must(c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: lines[0] + lines[2]})).Items; len(list) != 1 || list[0].Outcome != journal.Changed {
		t.Errorf("one line of it: %+v", list)
	}
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	if _, err := c.Beliefs().Archive(agent, tenant, api.ArchiveRequest{Space: beliefSpace}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent: %v", err)
	}
	if _, err := c.Beliefs().Unarchive(agent, tenant, api.UnarchiveRequest{Document: done.Document, DryRun: true}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent: %v", err)
	}
}

// TestArchiveMoved: between the file and the acts something changed, or after them; nothing is lost, and each item says why.
func TestArchiveMoved(t *testing.T) {
	c := newClocked(t)
	ctx := t.Context()
	for i, subject := range []string{"ada", "bo", "cy"} {
		in := asking(journal.Revise, subject, "lives-in", "oslo")
		in.Item, in.Confidence, in.ValidUntil = belief.Item(fmt.Sprintf("kref://acme/desk/%s.fact", subject)), new(dag.PPM(100_000)), new(dag.Time(c.now.UnixMicro())+dag.Time(1+i))
		must(c.Beliefs().Operate(ctx, tenant, in))
	}
	c.days(100)
	file := must(c.Beliefs().Archive(ctx, tenant, api.ArchiveRequest{Space: beliefSpace}))
	if len(file.Items) != 3 {
		t.Fatalf("%+v", file.Items)
	}
	must(c.Beliefs().Used(ctx, tenant, api.BeliefUse{Ref: "kref://acme/desk/cy.fact", Success: true}))
	head := c.head(t)
	if _, err := c.Beliefs().Archive(ctx, tenant, api.ArchiveRequest{Space: beliefSpace, SHA256: file.SHA256}); !errors.Is(err, space.ErrArchive) || c.head(t) != head {
		t.Errorf("what was saved is not what would be archived now: %v", err)
	}
	done := c.save(t)
	if len(done.Items) != 2 {
		t.Fatalf("%+v", done.Items)
	}
	contrary := asking(journal.Revise, "ada", "lives-in", "rome")
	contrary.Item = "kref://acme/desk/other.fact"
	must(c.Beliefs().Operate(ctx, tenant, contrary))
	must(c.Beliefs().Act(ctx, tenant, journal.Act{Item: "kref://acme/desk/bo.fact"}))
	must(c.Beliefs().Act(ctx, tenant, journal.Act{Item: "kref://acme/desk/bo.fact", Deprecates: true, Reason: "wrong"}))
	list := must(c.Beliefs().Unarchive(ctx, tenant, api.UnarchiveRequest{Document: done.Document})).Items
	if list[0].Outcome != journal.Refused || len(list[0].Conflict) == 0 || list[1].Outcome != journal.Refused || !strings.Contains(list[1].Reason, "wrong") {
		t.Errorf("%+v", list)
	}
	soundly(t, c.store)
	projected(t, c.Kernel)
}
