package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/persona"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/normalize"
)

// ErrPersona is wrapped if a persona is not taken: its signature, its form or its version.
var ErrPersona = errors.New("the persona is not taken")

// MaxAliases bounds the aliases of an export, and the names of people.
const MaxAliases = 1000

// A BeliefExport is a persona that left, and what did not.
type BeliefExport struct {
	Envelope []byte     // DSSE, canonical
	SHA256   dag.Digest // of the document
	Document *persona.Document
	Left     []rules.LeftOut
}

// ExportPersona signs what of a space may leave it. Names are replaced by aliases; people are names of persons beside those that the space knows as such. The ledger knows the key
// then, as with attestations. Without an identity it is identity.ErrNone.
func (k Beliefs) ExportPersona(ctx context.Context, tenant dag.Tenant, space belief.Space, aliases map[string]string, people []string) (*BeliefExport, error) {
	if err := mayBelieve(ctx, "export a persona"); err != nil {
		return nil, err
	}
	if len(aliases) > MaxAliases || len(people) > MaxAliases {
		return nil, fmt.Errorf("%w: %d aliases and %d names of people, at most %d", rules.ErrAlias, len(aliases), len(people), MaxAliases)
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	w, err := k.web(ctx, tenant, space)
	if err != nil {
		return nil, err
	}
	p, _, err := k.kindsOf(ctx, tenant, space, w.asOf)
	if err != nil {
		return nil, err
	}
	also, err := k.persons(ctx, tenant, w, aliases)
	if err != nil {
		return nil, err
	}
	items, err := k.personaItems(ctx, tenant, w)
	if err != nil {
		return nil, err
	}
	chosen, err := rules.Export(p, items, w.personaLinks(), aliases, append(also, people...))
	if err != nil {
		return nil, err
	}
	origin, signer, err := k.signer(ctx, tenant)
	if err != nil {
		return nil, err
	}
	name, err := rules.Covered(aliases, origin, string(space))
	if err != nil {
		return nil, err
	}
	if name != "" {
		return nil, fmt.Errorf("%w: the name %.80q is in the name of the space %s or of the kernel %s, which a persona says it is from", rules.ErrAlias, name, space, origin)
	}
	out := &BeliefExport{Left: chosen.Left}
	if out.Document, err = w.document(chosen); err != nil {
		return nil, err
	}
	out.Document.Origin = persona.Origin{Kernel: origin, Tenant: tenant, Space: space, AsOf: w.asOf, At: now}
	out.Envelope, out.SHA256, err = persona.Seal(out.Document, signer)
	return out, err
}

// persons are names of persons, as far as a space says: of what items of the kinds person, user and relationship state something, and other names of them and of those that have an alias.
func (k Beliefs) persons(ctx context.Context, tenant dag.Tenant, w *web, aliases map[string]string) (names []string, _ error) {
	known := map[string]bool{}
	for _, r := range w.revisions {
		of := slices.Contains([]string{"person", "user", "relationship"}, r.Item.Kind())
		for i := range r.Statements {
			if s := &r.Statements[i]; of || s.Object == "person" && (s.Predicate == "is" || s.Predicate == "is-a") {
				known[s.Subject] = true
			}
		}
	}
	for name := range aliases {
		if canonical, err := normalize.Name(name); err == nil {
			known[canonical] = true
		}
	}
	table, err := k.facts().Aliases(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	for name := range known {
		names = append(names, table.Members(name)...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// personaItems are the items of a web as an export looks at them.
func (k Beliefs) personaItems(ctx context.Context, tenant dag.Tenant, w *web) (items []rules.PersonaItem, _ error) {
	for _, r := range w.revisions {
		item := rules.PersonaItem{ID: string(r.Item), Kind: r.Item.Kind(), Proposed: !r.Vouched()}
		if rules.Unshared(item.Kind) {
			record, err := k.journal().Item(ctx, tenant, r.Item, w.asOf)
			if err != nil {
				return nil, err
			}
			shared := record.Tagged(rules.Shared)
			item.Shared = shared != nil && shared.Number == r.Number
		}
		for i := range r.Statements {
			s := &r.Statements[i]
			item.Statements = append(item.Statements, rules.PersonaStatement{Literal: s.Literal, Premises: s.Premises, Span: s.Span})
		}
		title, summary := r.Title, r.Summary
		if r.Withheld {
			title, summary = "", ""
		}
		item.Texts = slices.Concat([]string{title, summary, r.Source}, r.Keywords, r.Topics)
		items = append(items, item)
	}
	return items, nil
}

// personaLinks are the links from what is believed to other items, whichever of their revisions they lead to.
func (w *web) personaLinks() (links []rules.PersonaLink) {
	for i, r := range w.revisions {
		for _, l := range w.out[i] {
			if to, err := belief.ParseAddress(l.To); err == nil && to.Item != r.Item {
				links = append(links, rules.PersonaLink{From: string(r.Item), Type: l.Type, To: string(to.Item)})
			}
		}
	}
	return links
}

// document is what was chosen in the form of a file.
func (w *web) document(chosen *rules.Persona) (*persona.Document, error) {
	d, at := &persona.Document{}, map[string]int{}
	for i := range chosen.Items {
		of := &chosen.Items[i]
		at[of.ID] = i
		r := w.revisions[w.of[belief.Item(chosen.From[of.ID])]]
		words, topics := of.Texts[3:][:len(r.Keywords)], of.Texts[3:][len(r.Keywords):]
		item := persona.Item{Kind: of.Kind, Confidence: r.Confidence, Title: of.Texts[0], Summary: of.Texts[1], Source: of.Texts[2], Keywords: words, Topics: topics}
		if !journal.IsSource(item.Source) { // with an alias that is no name of a model
			item.Source = "external"
		}
		for _, s := range of.Statements {
			item.Statements = append(item.Statements, persona.Statement{Literal: s.Literal, Premises: s.Premises, Span: s.Span})
		}
		if err := item.Check(); err != nil {
			return nil, fmt.Errorf("%w: with its names replaced, %s: %w", rules.ErrAlias, r.Item, err)
		}
		d.Items = append(d.Items, item)
	}
	for _, l := range chosen.Links {
		d.Links = append(d.Links, persona.Link{From: at[l.From], Type: l.Type, To: at[l.To]})
	}
	d.Sort()
	return d, nil
}

// A PersonaImport asks for a persona to be taken into a space.
type PersonaImport struct {
	Space    belief.Space
	Envelope []byte
	Signers  []ledger.Key // whose signatures count
	Revise   bool         // with the authority of the caller; else everything is proposed
	Dry      bool         // decide on each item by itself, and record nothing
}

// A BeliefImport is what became of a persona.
type BeliefImport struct {
	SHA256 dag.Digest
	Origin persona.Origin
	Items  []ImportedItem
	Links  int // that are there now
}

// An ImportedItem is what became of an item of a persona.
type ImportedItem struct {
	ID       string // in the file
	Outcomes []*journal.Outcome
}

// address is the revision that an item is now; a zero one if it was not taken.
func (i *ImportedItem) address() (a belief.Address) {
	for _, o := range i.Outcomes {
		if o.Result != journal.Refused && o.Revision != 0 {
			a = belief.Address{Item: o.Item, Revision: o.Revision}
		}
	}
	return a
}

// ImportPersona takes the items of a persona under new names, which follow from its digest, with where they are from as the reason. A persona that is not as it must be, or that nobody
// signed who counts, is ErrPersona, and nothing is recorded. Importing it again changes nothing: each statement is answered from the record.
func (k Beliefs) ImportPersona(ctx context.Context, tenant dag.Tenant, in PersonaImport) (*BeliefImport, error) {
	if err := mayBelieve(ctx, "take a persona, which says whose signatures count"); err != nil {
		return nil, err
	}
	d, digest, err := persona.Open(in.Envelope, in.Signers)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPersona, err)
	}
	if err := k.ownPersona(d, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPersona, err)
	}
	listed, _, err := k.kindsOf(ctx, tenant, in.Space, history.Forever-1)
	if err != nil {
		return nil, err
	}
	for i, l := range d.Links {
		if l.Type == rules.DecayedFrom {
			return nil, fmt.Errorf("%w: links[%d].type: %s leads from an item to itself alone", ErrPersona, i, l.Type)
		}
	}
	out := &BeliefImport{SHA256: digest, Origin: d.Origin}
	var all [][]personaRequest // before any is done, so that what is wrong with one leaves nothing behind
	for i := range d.Items {
		if err := listed.Allow(d.Items[i].Kind); err != nil {
			return nil, fmt.Errorf("%s: %w", persona.ID(i), err)
		}
		requests, err := k.personaRequests(ctx, tenant, &in, d, digest, i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", persona.ID(i), err)
		}
		all = append(all, requests)
	}
	for i, requests := range all {
		done := ImportedItem{ID: persona.ID(i)}
		for _, r := range requests {
			o, err := k.takeItem(ctx, tenant, &in, r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", done.ID, err)
			}
			done.Outcomes = append(done.Outcomes, o)
		}
		out.Items = append(out.Items, done)
	}
	if in.Dry {
		return out, nil
	}
	for _, l := range d.Links {
		from, to := out.Items[l.From].address(), out.Items[l.To].address()
		if from.Item == "" || to.Item == "" {
			continue
		}
		if _, err := k.Link(ctx, tenant, journal.Link{From: from, Type: l.Type, To: to.String()}); err != nil {
			return nil, err
		}
		out.Links++
	}
	return out, nil
}

// ownPersona refuses a persona that says it is from this kernel and that none of its keys signed, whichever keys the request names.
func (k Beliefs) ownPersona(d *persona.Document, in *PersonaImport) error {
	id, _ := k.identity.get()
	if id.Name() == "" || d.Origin.Kernel != string(id.Origin(d.Origin.Tenant)) {
		return nil
	}
	var own []ledger.Key
	for _, key := range id.Attestations(d.Origin.Tenant) {
		own = append(own, key.Key)
	}
	if _, _, err := persona.Open(in.Envelope, own); err != nil {
		return fmt.Errorf("origin.kernel: %.200q is this kernel, and none of its keys signed: %w", d.Origin.Kernel, err)
	}
	return nil
}

type personaRequest struct {
	in   *BeliefRequest
	made *beliefRequest
}

// personaRequests are the requests by which an item is taken: one for its statements of each time, and one for each rule.
func (k Beliefs) personaRequests(ctx context.Context, tenant dag.Tenant, in *PersonaImport, d *persona.Document, digest dag.Digest, at int) (list []personaRequest, _ error) {
	item, id := &d.Items[at], persona.ID(at)
	hash := sha256.Sum256([]byte("persona " + digest.String() + " " + id))
	name, err := belief.NewItem(in.Space, hex.EncodeToString(hash[:10])+"."+item.Kind)
	if err != nil {
		return nil, err
	}
	operator := journal.Propose
	if in.Revise {
		operator = journal.Revise
	}
	reason := fmt.Sprintf("%s in the persona %s, which %s signed on %s, from space %s as of %d; there its source is %s", id, digest, d.Origin.Kernel, d.Origin.At, d.Origin.Space, d.Origin.AsOf, item.Source)
	for i := range item.Statements {
		s := &item.Statements[i]
		same := slices.IndexFunc(list, func(r personaRequest) bool { return r.in.Span == s.Span && slices.Equal(r.in.Premises, s.Premises) })
		if same >= 0 {
			list[same].in.Statements = append(list[same].in.Statements, s.Literal)
			continue
		}
		list = append(list, personaRequest{in: &BeliefRequest{
			Operator: operator, Space: in.Space, Item: name, Kind: item.Kind, Statements: []belief.Literal{s.Literal}, Premises: s.Premises, Span: s.Span,
			Title: item.Title, Summary: item.Summary, Keywords: item.Keywords, Topics: item.Topics, Confidence: item.Confidence, Source: "external", Reason: reason,
			Key: fmt.Sprintf("persona %s %s %s %s %d", digest, in.Space, operator, id, len(list)), Dry: in.Dry,
		}})
	}
	for i := range list {
		r := &list[i]
		if r.made, err = k.request(ctx, tenant, r.in); err != nil {
			return nil, err
		}
		r.made.Statements = distinct(r.made.Statements) // under the aliases of this tenant two may be one
		if err := r.made.Request.Check(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func distinct(list []belief.Literal) (out []belief.Literal) {
	for _, l := range list {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// takeItem records an imported item. Without Revise it is proposed as an inference, whatever the role of the caller; with Revise it is
// revised with the caller's authority.
func (k Beliefs) takeItem(ctx context.Context, tenant dag.Tenant, in *PersonaImport, r personaRequest) (o *journal.Outcome, err error) {
	err = k.underPolicy(ctx, tenant, in.Space, func(p kinds.Policy, id string) error {
		k.decideUnder(ctx, r.made, r.in, p, id)
		if !in.Revise {
			r.made.Rank = journal.Rank{Class: belief.Inferred, Criterion: uint64(r.in.Confidence)}
		}
		o, err = k.journal().Operate(ctx, tenant, r.made.Request)
		return err
	})
	return o, err
}
