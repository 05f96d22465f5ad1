package space_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/persona"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A persona world has a kernel that signs and one that takes what it signed.
type personaWorld struct {
	from, to *kernel.Kernel
	into     store.Store
	id       identity.Identity
	key      ledger.Key
	turns    []dag.TurnID
}

// signing opens a kernel that signs with an identity, and remembers it in a file.
func signing(t *testing.T, s store.Store, id identity.Identity, path string) *kernel.Kernel {
	t.Helper()
	return must(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: standing, Identity: id, History: identity.HistoryAt(path)}))
}

func newPersonaWorld(t *testing.T) *personaWorld {
	t.Helper()
	w := &personaWorld{id: must(identity.New(noise(5), "kernel.example", 0)), into: stores["memory"](t)}
	w.from = signing(t, stores["memory"](t), w.id, filepath.Join(t.TempDir(), "identity.json.history"))
	w.to = signing(t, w.into, identity.Identity{}, "")
	w.turns = chain(t, w.from, 3)
	believing(t, w.from)
	believing(t, w.to, "lives-in")
	w.key = w.id.Attestations(tenant)[0].Key
	return w
}

func (w *personaWorld) taking(envelope []byte) api.PersonaImport {
	return api.PersonaImport{Space: beliefSpace, Envelope: envelope, Signers: []string{w.key.String()}}
}

func (w *personaWorld) head(t *testing.T) dag.Seq {
	t.Helper()
	return must(w.into.Head(t.Context(), tenant))
}

// payload is what an envelope of the world signs.
func (w *personaWorld) payload(t *testing.T, envelope []byte) []byte {
	t.Helper()
	payload, _, err := must(attest.ParseEnvelopeOf(attest.PersonaType, envelope)).Verify(func(string) (ledger.Key, bool) { return w.key, true })
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// document is what an envelope of the world holds.
func (w *personaWorld) document(t *testing.T, envelope []byte) *persona.Document {
	t.Helper()
	d, _, err := persona.Open(envelope, []ledger.Key{w.key})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var coveredNames = []string{"Quillon Vane", "Brünhild", "O'Tuathail"}

// TestPersonaOfRandomSpaces: no byte of a persona is of an episode, of a turn or of a name that has an alias, in any spelling; and taken twice it is what was sent, once.
func TestPersonaOfRandomSpaces(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	spelled := func() string {
		n := pick(coveredNames...)
		switch r.IntN(5) {
		case 0:
			return strings.ToUpper(n)
		case 1:
			return strings.ToLower(strings.ReplaceAll(n, " ", "-"))
		case 2:
			return strings.ReplaceAll(n, " ", " _ ")
		case 3:
			return n + pick("'s", "son")
		}
		return n
	}
	text := func() string {
		var words []string
		for range r.IntN(6) {
			words = append(words, pick(spelled(), "met", "tomorrow", "\"quoted\"", "Zed"))
		}
		return strings.Join(words, pick(" ", ", "))
	}
	var aliases []api.PersonaAlias
	for i, n := range coveredNames {
		aliases = append(aliases, api.PersonaAlias{Name: n, Alias: fmt.Sprint("party ", i)})
	}
	every := []string{"episodic", "conversation", "user", "relationship", "self", "observation", "fact", "preference", "hard_rule", "procedure", "person", "bundle"}
	taken, left, links := 0, 0, 0
	for range 25 {
		w := newPersonaWorld(t)
		ctx := t.Context()
		var made []belief.Address
		for i := range 4 + r.IntN(8) {
			kind := pick(every...)
			in := asking(journal.Revise, pick("pump", "valve", spelled()), fmt.Sprint("has-", i), pick("tank", spelled()))
			in.Item = belief.Item(fmt.Sprintf("kref://acme/desk/quillon-vane-%d.%s", i, kind))
			in.Title, in.Summary, in.Keywords, in.Topics, in.Reason, in.Confidence = text(), text(), []string{pick("k", spelled())}, []string{pick("t", spelled())}, text(), new(dag.PPM(r.IntN(1_000_001)))
			if kind == "episodic" || kind == "conversation" {
				in.Statements[0].Object, in.Summary = "episodemark", "EpisodeMark "+text()
			}
			if r.IntN(2) == 0 {
				in.Turns = w.turns[:1]
			}
			o := must(w.from.Beliefs().Operate(ctx, tenant, in))
			made = append(made, belief.Address{Item: o.Item, Revision: o.Revision})
			if r.IntN(2) == 0 {
				must(w.from.Beliefs().Act(ctx, tenant, journal.Act{Item: o.Item, Tag: rules.Shared, Number: o.Revision}))
			}
			if r.IntN(3) == 0 {
				rule := asking(journal.Revise, "rule", fmt.Sprint("makes-", i), pick("heat", spelled()))
				rule.Item, rule.Premises, rule.Title, rule.Summary = in.Item, []belief.Literal{{Subject: spelled(), Predicate: "is", Object: "there"}}, in.Title, in.Summary
				o := must(w.from.Beliefs().Operate(ctx, tenant, rule))
				made[len(made)-1].Revision = o.Revision
			}
		}
		for range 12 {
			from, to := made[r.IntN(len(made))], made[r.IntN(len(made))]
			must(w.from.Beliefs().Link(ctx, tenant, api.NewLink{From: from.String(), Type: "depends_on", To: to.String()}))
		}
		out := must(w.from.Beliefs().ExportPersona(ctx, tenant, api.PersonaRequest{Space: beliefSpace, Aliases: aliases}))
		payload := w.payload(t, out.Envelope)
		document := w.document(t, out.Envelope)
		if len(document.Items) != out.Items || len(document.Links) != out.Links {
			t.Fatalf("%+v, of %d items and %d links", document, out.Items, out.Links)
		}
		folded := strings.ToLower(string(payload))
		forbidden := []string{"episodemark", "kref:", w.turns[0].String(), w.turns[1].String(), "episodic", "conversation"}
		for _, n := range coveredNames {
			for _, s := range []string{n, strings.ReplaceAll(n, " ", "-"), strings.ReplaceAll(n, " ", "_"), strings.ReplaceAll(n, "'", "-")} {
				forbidden = append(forbidden, strings.ToLower(s))
			}
		}
		for _, s := range forbidden {
			if strings.Contains(folded, s) {
				t.Fatalf("%q is in %s", s, payload)
			}
		}
		for _, item := range document.Items {
			if slices.Contains([]string{"user", "relationship", "person"}, item.Kind) {
				t.Fatalf("%+v left", item)
			}
			if zed := strings.Contains(item.Title+item.Summary, " Zed"); zed && !slices.ContainsFunc(out.Left, func(l api.PersonaLeft) bool { return l.Taken && strings.Contains(l.Name, "Zed") }) {
				t.Fatalf("Zed is in %+v, and not listed: %+v", item, out.Left)
			}
		}
		taken, left = taken+len(document.Items), left+len(out.Left)

		first := must(w.to.Beliefs().ImportPersona(ctx, tenant, w.taking(out.Envelope)))
		links += first.Links
		head := w.head(t)
		second := must(w.to.Beliefs().ImportPersona(ctx, tenant, w.taking(out.Envelope)))
		if w.head(t) != head || second.Links != first.Links {
			t.Fatalf("the second time: %+v", second)
		}
		for i := range second.Items {
			for n, o := range second.Items[i].Outcomes {
				if was := first.Items[i].Outcomes[n]; !o.Repeated || o.Seq != was.Seq || o.Revision != was.Revision || o.Outcome != was.Outcome || was.Repeated {
					t.Fatalf("%+v, then %+v", was, o)
				}
			}
		}
		compareTaken(t, w, document, first)
		soundly(t, w.into)
		projected(t, w.to)
	}
	if taken < 30 || left < 30 || links < 5 {
		t.Errorf("%d items taken, %d left out or listed, %d links", taken, left, links)
	}
}

// compareTaken makes sure that what was taken says what the document says, and where it is from.
func compareTaken(t *testing.T, w *personaWorld, d *persona.Document, done api.ImportedPersona) {
	t.Helper()
	for i, item := range d.Items {
		last := done.Items[i].Outcomes[len(done.Items[i].Outcomes)-1]
		r := must(w.to.Beliefs().Kref(t.Context(), tenant, belief.Address{Item: last.Item})).Revision
		if r == nil || r.Title != item.Title || r.Summary != item.Summary || r.Confidence != item.Confidence || !slices.Equal(r.Keywords, item.Keywords) || r.Source != "external" || r.Item.Kind() != item.Kind {
			t.Fatalf("%+v became %+v", item, r)
		}
		for _, part := range []string{persona.ID(i) + " in", done.SHA256.String(), d.Origin.Kernel, "space acme/desk"} {
			if !strings.Contains(r.Reason, part) {
				t.Fatalf("the reason %q lacks %q", r.Reason, part)
			}
		}
		if len(r.Statements) != len(item.Statements) {
			t.Fatalf("%+v became %+v", item, r)
		}
		for _, s := range item.Statements {
			if !slices.ContainsFunc(r.Statements, func(o journal.Stated) bool {
				return o.Literal == s.Literal && slices.Equal(o.Premises, s.Premises) && o.Span == s.Span && o.Rank.Class == belief.Inferred
			}) {
				t.Fatalf("%+v is not in %+v", s, r.Statements)
			}
		}
	}
}

// smallPersona is an envelope with an item and a rule.
func (w *personaWorld) smallPersona(t *testing.T) []byte {
	t.Helper()
	in := asking(journal.Revise, "ada", "lives-in", "oslo")
	in.Title = "Home"
	must(w.from.Beliefs().Operate(t.Context(), tenant, in))
	return must(w.from.Beliefs().ExportPersona(t.Context(), tenant, api.PersonaRequest{Space: beliefSpace, Aliases: []api.PersonaAlias{{Name: "Ada", Alias: "party"}}})).Envelope
}

// TestPersonaMangled changes every byte of an envelope: each time it is refused, and nothing is recorded.
func TestPersonaMangled(t *testing.T) {
	w := newPersonaWorld(t)
	good := w.smallPersona(t)
	head, tried := w.head(t), 0
	for i := range good {
		for _, c := range []byte{good[i] ^ 1, good[i] ^ 0x20, good[i] ^ 0x80, '\n', ' ', 'A', '=', '0'} {
			if c == good[i] {
				continue
			}
			bad := bytes.Clone(good)
			bad[i] = c
			tried++
			if _, err := w.to.Beliefs().ImportPersona(t.Context(), tenant, w.taking(bad)); !errors.Is(err, space.ErrPersona) {
				t.Fatalf("byte %d, %q for %q: %v", i, c, good[i], err)
			}
		}
	}
	if tried < 7*len(good) || w.head(t) != head {
		t.Errorf("%d tried, the head is %d and was %d", tried, w.head(t), head)
	}
	if done := must(w.to.Beliefs().ImportPersona(t.Context(), tenant, w.taking(good))); len(done.Items) != 1 {
		t.Errorf("%+v", done)
	}
}

// TestPersonaRefused makes sure that an import is refused if the signed document is malformed, if an unknown key signed it, or if the
// caller lacks the permission. Each error names the place.
func TestPersonaRefused(t *testing.T) {
	w := newPersonaWorld(t)
	good := w.payload(t, w.smallPersona(t))
	signer := must(w.id.Attestor(tenant))
	head := w.head(t)
	for _, c := range []struct{ from, to, want string }{
		{`"gkpersona/1"`, `"gkpersona/2"`, "gkpersona/2"},
		{`"party"`, `"Party"`, "items[0]: not in the form of a belief"},
		{`"confidence":1000000`, `"confidence":1000001`, "items[0].confidence"},
		{`"item-1"`, `"item-2"`, "items[0].id"},
		{`"kind":"fact"`, `"kind":"Fact"`, "the kind"},
		{`"source":"manual"`, `"source":"hearsay"`, "the source"},
		{`"title":"Home"`, `"title":"` + strings.Repeat("x", journal.MaxText+1) + `"`, "the title has 4097 bytes"},
		{`"links":[]`, `"links":[{"from":"item-1","to":"item-9","type":"depends_on"}]`, "links[0].to"},
		{`"links":[]`, `"links":[{"from":"item-1","to":"item-1","type":"decayed_from"}]`, "links[0].type"},
		{`"links":[]`, `"links":[],"more":1`, "more"},
		{`"links":[]`, `"links": []`, "canonical form"},
		{`"tenant":"default"`, `"tenant":"other"`, "origin.kernel"},
		{`default.kernel.example`, `default.kernel.exampla`, "origin.kernel"},
		{`"statements":[`, `"statements":[],"statement":[`, "statement"},
	} {
		payload := strings.Replace(string(good), c.from, c.to, 1)
		if payload == string(good) {
			t.Fatalf("%s is not in %s", c.from, good)
		}
		_, err := w.to.Beliefs().ImportPersona(t.Context(), tenant, w.taking(must(attest.SealAs(attest.PersonaType, []byte(payload), signer))))
		if !errors.Is(err, space.ErrPersona) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
	stranger := must(identity.New(noise(6), "kernel.example", 0))
	for _, s := range [][]byte{must(attest.SealAs(attest.PersonaType, good, must(stranger.Attestor(tenant)))), must(attest.Seal(good, signer)), good, nil} {
		if _, err := w.to.Beliefs().ImportPersona(t.Context(), tenant, w.taking(s)); !errors.Is(err, space.ErrPersona) {
			t.Errorf("%.60q: %v", s, err)
		}
	}
	agent := access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio})
	in := w.taking(must(attest.SealAs(attest.PersonaType, good, signer)))
	in.Revise = true
	if _, err := w.to.Beliefs().ImportPersona(agent, tenant, in); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent revises: %v", err)
	}
	if _, err := w.from.Beliefs().ExportPersona(agent, tenant, api.PersonaRequest{Space: beliefSpace}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent exports: %v", err)
	}
	in.Space = "acme/none"
	if _, err := w.to.Beliefs().ImportPersona(t.Context(), tenant, in); !errors.Is(err, journal.ErrSpace) {
		t.Errorf("into no space: %v", err)
	}
	if _, err := w.from.Beliefs().ExportPersona(t.Context(), tenant, api.PersonaRequest{Space: beliefSpace, Aliases: []api.PersonaAlias{{Name: "Desk", Alias: "place"}}}); !errors.Is(err, rules.ErrAlias) || !strings.Contains(err.Error(), "acme/desk") {
		t.Errorf("a name that is in that of the space: %v", err)
	}
	if _, err := w.to.Beliefs().ExportPersona(t.Context(), tenant, api.PersonaRequest{Space: beliefSpace}); !errors.Is(err, identity.ErrNone) {
		t.Errorf("without an identity: %v", err)
	}
	if w.head(t) != head {
		t.Errorf("the head is %d and was %d", w.head(t), head)
	}
}

// TestPersonaConflicts: an import proposes, so what a person said stays and the proposal waits once; to revise is another request.
func TestPersonaConflicts(t *testing.T) {
	w := newPersonaWorld(t)
	ctx := t.Context()
	envelope := w.smallPersona(t)
	must(w.to.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "party", "lives-in", "rome")))
	dry := w.taking(envelope)
	dry.DryRun = true
	head := w.head(t)
	if done := must(w.to.Beliefs().ImportPersona(ctx, tenant, dry)); done.Items[0].Outcomes[0].Outcome != journal.Refused || w.head(t) != head {
		t.Errorf("dry: %+v", done.Items[0].Outcomes[0])
	}
	for range 2 {
		if done := must(w.to.Beliefs().ImportPersona(ctx, tenant, w.taking(envelope))); done.Items[0].Outcomes[0].Outcome != journal.Refused {
			t.Errorf("%+v", done.Items[0].Outcomes[0])
		}
	}
	if list := must(w.to.Beliefs().Conflicts(ctx, tenant, api.ConflictsQuery{Space: beliefSpace})).Conflicts; len(list) != 1 {
		t.Errorf("%d wait", len(list))
	}
	in := w.taking(envelope)
	in.Revise = true
	if done := must(w.to.Beliefs().ImportPersona(ctx, tenant, in)); done.Items[0].Outcomes[0].Outcome != journal.Changed || len(done.Items[0].Outcomes[0].GaveWay) != 1 {
		t.Errorf("%+v", done.Items[0].Outcomes[0])
	}
	if got := stated(t, w.to, 0); len(got) != 1 || got[0] != "party lives-in oslo" {
		t.Errorf("%q", got)
	}
	soundly(t, w.into)
}

// TestPersonaPower has agents import personas: signed by a key of theirs, by the kernel's own, and twice. None is taken. A person's import of what says it is from this kernel needs a key of
// the kernel, and no envelope has two signatures of one key.
func TestPersonaPower(t *testing.T) {
	w := newPersonaWorld(t)
	ctx := t.Context()
	envelope := w.smallPersona(t)
	_, key, err := w.to.Keys().Create(ctx, tenant, access.Agent, "for tests")
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []access.Identity{key.Identity(), {Tenant: tenant, Role: access.Agent, Subject: access.Stdio}, {Tenant: tenant, Role: access.Admin, Subject: access.Stdio}, {Tenant: tenant, Role: access.Admin, Subject: key.ID, Model: true}} {
		head := w.head(t)
		for _, dry := range []bool{true, false} {
			in := w.taking(envelope)
			in.DryRun = dry
			if _, err := w.to.Beliefs().ImportPersona(access.As(ctx, who), tenant, in); !errors.Is(err, access.ErrMayNot) || w.head(t) != head {
				t.Errorf("%+v: %v", who, err)
			}
		}
	}
	// a proposal of a kind that binds does not leave, for a person who revises with it elsewhere would make it a constraint
	for n, kind := range []string{"hard_rule", "instruction", "fact"} {
		in := asking(journal.Propose, "agent", "obeys", fmt.Sprint("visitor ", n))
		in.Kind = kind
		must(w.from.Beliefs().Operate(access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio}), tenant, in))
	}
	out := must(w.from.Beliefs().ExportPersona(ctx, tenant, api.PersonaRequest{Space: beliefSpace}))
	left := w.document(t, out.Envelope)
	if len(left.Items) != 2 || slices.ContainsFunc(left.Items, func(i persona.Item) bool { return i.Kind != "fact" }) || len(out.Left) != 2 || !strings.Contains(out.Left[0].Reason, "an agent proposed the item") {
		t.Errorf("%+v, left %+v", left.Items, out.Left)
	}
	// a stranger signs under the name of the kernel that imports
	stranger := must(identity.New(noise(9), "kernel.example", 0))
	own := must(identity.New(noise(10), "kernel.example", 0))
	into := stores["memory"](t)
	k := signing(t, into, own, filepath.Join(t.TempDir(), "identity.json.history"))
	believing(t, k)
	payload := w.payload(t, envelope)
	take := func(signer identity.Identity, payload []byte) error {
		sealed := must(attest.SealAs(attest.PersonaType, payload, must(signer.Attestor(tenant))))
		_, err := k.Beliefs().ImportPersona(ctx, tenant, api.PersonaImport{Space: beliefSpace, Envelope: sealed, Signers: []string{signer.Attestations(tenant)[0].Key.String()}})
		return err
	}
	head := must(into.Head(ctx, tenant))
	if err := take(stranger, payload); !errors.Is(err, space.ErrPersona) || !strings.Contains(err.Error(), "origin.kernel") || must(into.Head(ctx, tenant)) != head {
		t.Errorf("a stranger under this kernel's name: %v", err)
	}
	if err := take(own, payload); err != nil {
		t.Errorf("its own: %v", err)
	}
	// a second copy of the signature
	text := string(envelope)
	begin := strings.Index(text, `"signatures":[`) + len(`"signatures":[`)
	end := strings.LastIndex(text, "]")
	twice := []byte(text[:end] + "," + text[begin:end] + text[end:])
	if _, err := w.to.Beliefs().ImportPersona(ctx, tenant, w.taking(twice)); !errors.Is(err, space.ErrPersona) || !strings.Contains(err.Error(), "signatures[1]") {
		t.Errorf("a second copy of the signature: %v", err)
	}
}
