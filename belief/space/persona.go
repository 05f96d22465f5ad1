package space

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/persona"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/normalize"
)

// ErrPersona is wrapped if a persona is refused because of its signature, its form or its version.
var ErrPersona = errors.New("the persona is refused")

// MaxAliases bounds the aliases and the names of people in a request for an export.
const MaxAliases = 1000

// ExportPersona returns a signed persona of the items that may leave a space. Names are replaced by aliases; People lists names of persons
// in addition to those that the space knows. The key is recorded in the ledger, as for attestations. Without an identity the error is
// identity.ErrNone.
func (k Personas) ExportPersona(ctx context.Context, tenant dag.Tenant, in api.PersonaRequest) (out api.Persona, _ error) {
	if err := k.mayBelieve(ctx, tenant, "export a persona"); err != nil {
		return out, err
	}
	aliases := map[string]string{}
	for i, a := range in.Aliases {
		if to, twice := aliases[a.Name]; twice && to != a.Alias {
			return out, fmt.Errorf("%w: aliases[%d]: %.80q has two aliases, %.80q and %.80q; keep one", rules.ErrAlias, i, a.Name, to, a.Alias)
		}
		aliases[a.Name] = a.Alias
	}
	if len(aliases) > MaxAliases || len(in.People) > MaxAliases {
		return out, fmt.Errorf("%w: there are %d aliases and %d names of people, at most %d of each", rules.ErrAlias, len(aliases), len(in.People), MaxAliases)
	}
	w, err := k.web(ctx, tenant, in.Space)
	if err != nil {
		return out, err
	}
	also, err := k.persons(ctx, tenant, w, aliases)
	if err != nil {
		return out, err
	}
	items, err := k.personaItems(ctx, tenant, w)
	if err != nil {
		return out, err
	}
	chosen, err := rules.Export(w.kinds, items, w.personaLinks(), aliases, append(also, in.People...))
	if err != nil {
		return out, err
	}
	origin, signer, err := k.kernel.Signer(ctx, tenant)
	if err != nil {
		return out, err
	}
	name, err := rules.Covered(aliases, origin, string(in.Space))
	if err != nil {
		return out, err
	}
	if name != "" {
		return out, fmt.Errorf("%w: the name %.80q is part of the name of the space %s or of the kernel %s, which every persona states", rules.ErrAlias, name, in.Space, origin)
	}
	d, err := w.document(chosen)
	if err != nil {
		return out, err
	}
	d.Origin = persona.Origin{Kernel: origin, Tenant: tenant, Space: in.Space, AsOf: w.asOf, At: w.now}
	out = api.Persona{Items: len(d.Items), Links: len(d.Links), Left: []api.PersonaLeft{}}
	for _, l := range chosen.Left {
		out.Left = append(out.Left, api.PersonaLeft{Item: belief.Item(l.ID), Name: l.Name, Taken: l.Taken, Reason: l.Reason})
	}
	out.Envelope, out.SHA256, err = persona.Seal(d, signer)
	return out, err
}

// persons returns the names of persons that a space knows: the subjects of items of the kinds person, user and relationship, the
// subjects that are stated to be a person, and the names in the table aliases; with all other names of these.
func (k Personas) persons(ctx context.Context, tenant dag.Tenant, w *web, aliases map[string]string) (names []string, _ error) {
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
	table, err := k.kernel.Aliases(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	for name := range known {
		names = append(names, table.Members(name)...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// personaItems returns the items of a web as the input of an export.
func (k Personas) personaItems(ctx context.Context, tenant dag.Tenant, w *web) (items []rules.PersonaItem, _ error) {
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
		text, title, summary := r.Text, r.Title, r.Summary
		if r.Withheld {
			text, title, summary = "", "", ""
		}
		item.Texts = slices.Concat([]string{title, summary, r.Source, text}, r.Keywords, r.Topics)
		items = append(items, item)
	}
	return items, nil
}

// personaLinks returns the links from believed revisions to any revision of other items.
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

// document returns the chosen items and links as the document of a persona, without its origin.
func (w *web) document(chosen *rules.Persona) (*persona.Document, error) {
	d, at := &persona.Document{}, map[string]int{}
	for i := range chosen.Items {
		of := &chosen.Items[i]
		at[of.ID] = i
		r := w.revisions[w.of[belief.Item(chosen.From[of.ID])]]
		words, topics := of.Texts[4:][:len(r.Keywords)], of.Texts[4:][len(r.Keywords):]
		item := persona.Item{Kind: of.Kind, Confidence: r.Confidence, Title: of.Texts[0], Summary: of.Texts[1], Source: of.Texts[2], Text: of.Texts[3], Keywords: words, Topics: topics}
		if !journal.IsSource(item.Source) { // an alias in the source may not be valid in a model's name
			item.Source = "external"
		}
		for _, s := range of.Statements {
			item.Statements = append(item.Statements, persona.Statement{Literal: s.Literal, Premises: s.Premises, Span: s.Span})
		}
		if err := item.Check(); err != nil {
			return nil, fmt.Errorf("%w: with its names replaced, the item %s is malformed: %w", rules.ErrAlias, r.Item, err)
		}
		d.Items = append(d.Items, item)
	}
	for _, l := range chosen.Links {
		d.Links = append(d.Links, persona.Link{From: at[l.From], Type: l.Type, To: at[l.To]})
	}
	d.Sort()
	return d, nil
}

// tookAs returns the address of the revision that an imported item became; zero if the item was refused.
func tookAs(i *api.ImportedItem) (a belief.Address) {
	for _, o := range i.Outcomes {
		if o.Outcome != journal.Refused && o.Revision != 0 {
			a = belief.Address{Item: o.Item, Revision: o.Revision}
		}
	}
	return a
}

// ImportPersona imports the items of a persona under new names, which are derived from its digest. The reason of each revision names the
// origin of its item. If the persona is malformed or none of the accepted keys signed it, the error is ErrPersona and nothing is recorded.
// Importing it again changes nothing, because each request is answered from the record.
func (k Personas) ImportPersona(ctx context.Context, tenant dag.Tenant, in api.PersonaImport) (out api.ImportedPersona, _ error) {
	if err := k.mayBelieve(ctx, tenant, "import a persona and choose the accepted signers"); err != nil {
		return out, err
	}
	var signers []ledger.Key
	for i, text := range in.Signers {
		key, err := ledger.ParseKey(text)
		if err != nil {
			return out, fmt.Errorf("signers[%d]: %w", i, err)
		}
		signers = append(signers, key)
	}
	d, digest, err := persona.Open(in.Envelope, signers)
	if err != nil {
		return out, fmt.Errorf("%w: %w", ErrPersona, err)
	}
	if err := k.ownPersona(d, &in); err != nil {
		return out, fmt.Errorf("%w: %w", ErrPersona, err)
	}
	listed, _, err := k.kindsOf(ctx, tenant, in.Space, history.Forever-1)
	if err != nil {
		return out, err
	}
	for i, l := range d.Links {
		if l.Type == rules.DecayedFrom {
			return out, fmt.Errorf("%w: links[%d].type: %s can only lead from an item to itself", ErrPersona, i, l.Type)
		}
	}
	out = api.ImportedPersona{SHA256: digest, Items: []api.ImportedItem{}, Origin: api.PersonaOrigin(d.Origin)}
	var all [][]*beliefRequest // all are made before the first is decided, so an error in one leaves nothing recorded
	for i := range d.Items {
		if err := listed.Allow(d.Items[i].Kind); err != nil {
			return out, fmt.Errorf("%s: %w", persona.ID(i), err)
		}
		requests, err := k.personaRequests(ctx, tenant, &in, d, digest, i)
		if err != nil {
			return out, fmt.Errorf("%s: %w", persona.ID(i), err)
		}
		all = append(all, requests)
	}
	for i, requests := range all {
		done := api.ImportedItem{ID: persona.ID(i), Outcomes: []api.BeliefOutcome{}}
		for _, r := range requests {
			o, err := outcomeIn(ctx)(k.takeItem(ctx, tenant, &in, r))
			if err != nil {
				return out, fmt.Errorf("%s: %w", done.ID, err)
			}
			done.Outcomes = append(done.Outcomes, o)
		}
		out.Items = append(out.Items, done)
	}
	if in.DryRun {
		return out, nil
	}
	for _, l := range d.Links {
		from, to := tookAs(&out.Items[l.From]), tookAs(&out.Items[l.To])
		if from.Item == "" || to.Item == "" {
			continue
		}
		if _, err := k.catalog().link(ctx, tenant, journal.Link{From: from, Type: l.Type, To: to.String()}); err != nil {
			return out, err
		}
		out.Links++
	}
	return out, nil
}

// ownPersona refuses a persona that names this kernel as its origin but that none of the kernel's keys signed, whichever keys the request names.
func (k Personas) ownPersona(d *persona.Document, in *api.PersonaImport) error {
	id := k.kernel.Identity()
	if id.Name() == "" || d.Origin.Kernel != string(id.Origin(d.Origin.Tenant)) {
		return nil
	}
	var own []ledger.Key
	for _, key := range id.Attestations(d.Origin.Tenant) {
		own = append(own, key.Key)
	}
	if _, _, err := persona.Open(in.Envelope, own); err != nil {
		return fmt.Errorf("origin.kernel: %.200q is this kernel, but none of its keys has signed: %w", d.Origin.Kernel, err)
	}
	return nil
}

// personaRequests returns the requests that import an item: one for all statements with the same span and the same premises.
func (k Personas) personaRequests(ctx context.Context, tenant dag.Tenant, in *api.PersonaImport, d *persona.Document, digest dag.Digest, at int) (made []*beliefRequest, _ error) {
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
	var list []api.BeliefRequest
	for i := range item.Statements {
		s := &item.Statements[i]
		same := slices.IndexFunc(list, func(r api.BeliefRequest) bool {
			return belief.SpanOf(r.ValidFrom, r.ValidUntil) == s.Span && slices.Equal(r.Premises, s.Premises)
		})
		if same >= 0 {
			list[same].Statements = append(list[same].Statements, s.Literal)
			continue
		}
		r := api.BeliefRequest{
			Space: in.Space, Item: name, Kind: item.Kind, Statements: []belief.Literal{s.Literal}, Premises: s.Premises,
			Text: item.Text, Title: item.Title, Summary: item.Summary, Keywords: item.Keywords, Topics: item.Topics, Confidence: &item.Confidence, Source: "external", Reason: reason,
			Key: fmt.Sprintf("persona %s %s %s %s %d", digest, in.Space, operator, id, len(list)), DryRun: in.DryRun,
		}
		r.ValidFrom, r.ValidUntil = s.Span.Bounds()
		list = append(list, r)
	}
	for i := range list {
		r, err := k.statements().request(ctx, tenant, operator, &list[i], nil)
		if err != nil {
			return nil, err
		}
		r.Adds = i > 0                        // they are one item
		r.Statements = distinct(r.Statements) // under the aliases of this tenant two statements may be equal
		if err := r.Check(); err != nil {
			return nil, err
		}
		made = append(made, r)
	}
	return made, nil
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
func (k Personas) takeItem(ctx context.Context, tenant dag.Tenant, in *api.PersonaImport, r *beliefRequest) (*journal.Outcome, error) {
	var rank *journal.Rank
	if !in.Revise {
		rank = &journal.Rank{Class: belief.Inferred, Criterion: uint64(r.Revision.Confidence)}
	}
	return k.statements().decide(ctx, tenant, r, rank)
}
