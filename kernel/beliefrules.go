package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

// mayBelieve refuses a caller who may only propose.
func mayBelieve(ctx context.Context, what string) error {
	if !believes(ctx) {
		return fmt.Errorf("%w: to %s needs the permission to %s", ErrMayNot, what, access.Believe)
	}
	return nil
}

// A BeliefResolution says how a conflict ended.
type BeliefResolution struct {
	journal.Resolution                  // Seq is 0 if it goes on waiting
	Outcome            *journal.Outcome // of the revision with what was proposed; nil: it was not taken
	Advice             []rules.Verdict  // for each revision that the proposal contradicts
}

// ResolveConflict ends a conflict that waits: the proposal is revised with, with the caller's authority, or dropped, or deferred. Where revising is refused, the conflict
// goes on waiting. Whatever is done, it says what the rules advise.
func (k Beliefs) ResolveConflict(ctx context.Context, tenant dag.Tenant, r journal.Resolution, dry bool) (*BeliefResolution, error) {
	if err := mayBelieve(ctx, "resolve a conflict"); err != nil {
		return nil, err
	}
	if err := k.screen(ctx, tenant, func() []Text { return []Text{{In: "reason", Text: r.Reason}} }); err != nil {
		return nil, err
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	r.By, r.At = access.CallerIn(ctx), now
	out := &BeliefResolution{}
	err = k.underPolicy(ctx, tenant, r.Space, func(p kinds.Policy, id string) error {
		c, err := k.journal().Conflict(ctx, tenant, r.Space, r.Conflict, history.Forever-1)
		if err != nil {
			return err
		}
		out.Resolution = r
		if out.Advice, err = k.advice(ctx, tenant, c, now); err != nil || r.How != journal.Taken && dry {
			return err
		}
		var request *journal.Request
		if r.How == journal.Taken {
			if request, err = k.taking(ctx, tenant, c, r.Reason, dry, p, id); err != nil {
				return err
			}
		}
		done, outcome, err := k.journal().Resolve(ctx, tenant, r, request)
		if err == nil {
			out.Resolution, out.Outcome = *done, outcome
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// taking is the request to revise with what a conflict proposed.
func (k Beliefs) taking(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, reason string, dry bool, p kinds.Policy, id string) (*journal.Request, error) {
	if c.Erased {
		return nil, fmt.Errorf("%w: what conflict %d proposed was erased; drop it", ErrNoEvidence, c.Seq)
	}
	in := &BeliefRequest{
		Operator: journal.Revise, Space: c.Space, Item: c.Item, Kind: c.Kind, Statements: c.Statements, Premises: c.Premises, Span: c.Span, Turns: c.Turns, Confidence: c.Confidence, Reason: reason, Dry: dry,
	}
	made, err := k.request(ctx, tenant, in)
	if err != nil {
		return nil, err
	}
	k.decideUnder(ctx, made, in, p, id)
	return &made.Request, nil
}

// advice judges a conflict against each revision that would give way.
func (k Beliefs) advice(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, now dag.Time) (list []rules.Verdict, _ error) {
	for _, with := range c.With {
		record, err := k.journal().Item(ctx, tenant, with.Item, history.Forever-1)
		if err != nil {
			return nil, err
		}
		if old := record.Numbered(with.Revision); old != nil {
			list = append(list, rules.Judge(rules.Side{By: c.By, At: c.At, Confidence: c.Confidence}, rules.Side{By: old.By, At: old.At, Confidence: old.Confidence}, now))
		}
	}
	return list, nil
}

// Rules returns all statements of a space that are of kinds which its policy marks hard or always, as of a number, 0 is now. Nothing shortens the list.
func (k Beliefs) Rules(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (*BeliefBase, error) {
	b, err := k.Base(ctx, tenant, space, asOf, nil)
	if err != nil {
		return nil, err
	}
	p, _, err := k.kindsOf(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	of := &BeliefBase{AsOf: b.AsOf, Policy: b.Policy}
	binding := map[string]bool{}
	for _, kind := range p.Kinds() {
		binding[kind.Name] = kind.Hard || kind.Always
	}
	for i := range b.Held {
		if binding[b.Held[i].Revision.Item.Kind()] {
			of.Held, of.Elements = append(of.Held, b.Held[i]), append(of.Elements, b.Elements[i])
		}
	}
	return of, nil
}

// Used records that the revision an address leads to was used, and returns how often its item was.
func (k Beliefs) Used(ctx context.Context, tenant dag.Tenant, a belief.Address, success bool) (*journal.Use, rules.Record, error) {
	kref, err := k.Resolve(ctx, tenant, a)
	if err != nil {
		return nil, rules.Record{}, err
	}
	if kref.Revision == nil {
		return nil, rules.Record{}, fmt.Errorf("%w: %s has no such revision now", journal.ErrNoItem, a)
	}
	now, err := k.now()
	if err != nil {
		return nil, rules.Record{}, err
	}
	u, err := k.journal().AddUse(ctx, tenant, journal.Use{Of: belief.Address{Item: a.Item, Revision: kref.Revision.Number}, Success: success, By: access.CallerIn(ctx), At: now})
	if err != nil {
		return nil, rules.Record{}, err
	}
	k.changes.tell(tenant)
	used, err := k.journal().Used(ctx, tenant, []belief.Item{a.Item}, history.Forever-1)
	if err != nil {
		return nil, rules.Record{}, err
	}
	return u, rules.Rate(usesOf(used[0])), nil
}

func usesOf(list []*journal.Use) (uses []rules.Use) {
	for _, u := range list {
		uses = append(uses, rules.Use{ID: fmt.Sprint(u.Seq), By: u.By, At: u.At, Success: u.Success})
	}
	return uses
}

// evidential are the types of links that lead from a belief to its evidence, and supporting those that lead from evidence to a belief.
var (
	evidential = []string{"depends_on", "derived_from"}
	supporting = []string{"supports", "proves"}
)

// A web is what is believed in a space with the links of its revisions.
type web struct {
	asOf      dag.Seq
	revisions []*journal.Revision // believed, by item
	at        map[string]int      // in revisions, by address
	of        map[belief.Item]int
	out, in   [][]*journal.Link
}

func (k Beliefs) web(ctx context.Context, tenant dag.Tenant, space belief.Space) (*web, error) {
	asOf, err := k.asOfHead(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	held, err := k.journal().Believed(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	w := &web{asOf: asOf, at: map[string]int{}, of: map[belief.Item]int{}}
	seen := map[dag.Seq]bool{}
	for i := range held {
		if r := held[i].Revision; !seen[r.Seq] {
			seen[r.Seq] = true
			w.revisions = append(w.revisions, r)
		}
	}
	slices.SortFunc(w.revisions, func(a, b *journal.Revision) int { return strings.Compare(string(a.Item), string(b.Item)) })
	var addresses []string
	for i, r := range w.revisions {
		address := addressOf(r)
		addresses = append(addresses, address)
		w.at[address], w.of[r.Item] = i, i
	}
	if w.out, err = k.journal().Links(ctx, tenant, addresses, false, asOf); err != nil {
		return nil, err
	}
	w.in, err = k.journal().Links(ctx, tenant, addresses, true, asOf)
	return w, err
}

func addressOf(r *journal.Revision) string {
	return belief.Address{Item: r.Item, Revision: r.Number}.String()
}

// lineage returns the items that an item was made of, over any number of steps, and what it was promoted from.
func (w *web) lineage(i int) (list []string) {
	seen := map[belief.Item]bool{}
	next := []int{i}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		visit := func(item belief.Item) {
			if seen[item] {
				return
			}
			seen[item] = true
			list = append(list, string(item))
			if at, ok := w.of[item]; ok {
				next = append(next, at)
			}
		}
		for _, l := range w.out[n] {
			if to, err := belief.ParseAddress(l.To); err == nil && slices.Contains(evidential, l.Type) || err == nil && l.Type == "created_from" {
				visit(to.Item)
			}
		}
		for _, l := range w.in[n] {
			if l.Type == journal.PromotedTo {
				visit(l.From.Item)
			}
		}
	}
	return list
}

// similar is how much of what two revisions state is the same, in millionths; 0 if b lacks something of a.
func similar(a, b *journal.Revision) dag.PPM {
	both := 0
	for i := range a.Statements {
		if slices.ContainsFunc(b.Statements, func(s journal.Stated) bool { return s.Literal == a.Statements[i].Literal }) {
			both++
		}
	}
	if len(a.Statements) == 0 || both < len(a.Statements) {
		return 0
	}
	return dag.PPM(uint64(both) * uint64(dag.One) / uint64(max(len(a.Statements), len(b.Statements))))
}

// candidates makes one of each item. What states all that an item states supports it, and so does what supports or proves it; what contradicts it is against
// it. An item is among its own sources, for episodes that are similar to each other are counted together.
func (w *web) candidates(uses [][]*journal.Use, tags []map[string]bool, conflicts []*journal.Conflict) (list []rules.Candidate) {
	bySlot := map[belief.Slot][]int{}
	lineages := make([][]string, len(w.revisions))
	for i, r := range w.revisions {
		lineages[i] = w.lineage(i)
		if len(r.Statements) > 0 {
			for _, s := range r.Statements {
				if at := bySlot[s.Slot()]; len(at) == 0 || at[len(at)-1] != i {
					bySlot[s.Slot()] = append(at, i)
				}
			}
		}
	}
	for i, r := range w.revisions {
		c := rules.Candidate{ID: string(r.Item), Kind: r.Item.Kind(), Confidence: r.Confidence, Uses: usesOf(uses[i])}
		for tag := range tags[i] {
			c.Tags = append(c.Tags, tag)
		}
		add := func(at int, similarity dag.PPM, against bool) {
			from := w.revisions[at]
			c.Sources = append(c.Sources, rules.Source{ID: string(from.Item), By: from.By, At: from.At, Similarity: similarity, Lineage: lineages[at], Against: against})
		}
		if len(r.Statements) > 0 {
			for _, at := range bySlot[r.Statements[0].Slot()] {
				if s := similar(r, w.revisions[at]); s > 0 {
					add(at, s, false)
				}
			}
		}
		for _, l := range w.in[i] {
			at, ok := w.at[l.From.String()]
			switch {
			case !ok:
			case l.Type == "contradicts":
				add(at, 0, true)
			case slices.Contains(supporting, l.Type):
				add(at, dag.One, false)
			}
		}
		for _, x := range conflicts {
			if slices.ContainsFunc(x.With, func(a belief.Address) bool { return a.Item == r.Item }) {
				c.Sources = append(c.Sources, rules.Source{ID: fmt.Sprint("conflict ", x.Seq), By: x.By, At: x.At, Against: true})
			}
		}
		for _, s := range r.Statements {
			switch s.Predicate {
			case "severity":
				if severity, err := rules.ParseSeverity(s.Object); err == nil && !s.Not {
					c.Severity = max(c.Severity, severity)
				}
			case "trigger":
				c.Trigger = c.Trigger || !s.Not
			case "step":
				c.Steps = c.Steps || !s.Not
			}
		}
		list = append(list, c)
	}
	return list
}

// A BeliefPromotion is a promotion with what was done about it.
type BeliefPromotion struct {
	rules.Promotion
	From    belief.Address
	To      belief.Item // that it becomes; of a promotion to a tag the item itself
	Outcome *journal.Outcome
	Acted   *journal.Acted // of a tag
}

// Promote promotes what the steps of a policy promote, "" is promotion@1: each to a new item of the step's kind, as a proposal with the reason, with links promoted_to from its sources; or with a tag. What was
// promoted before is not promoted again. Dry, it records nothing.
func (k Beliefs) Promote(ctx context.Context, tenant dag.Tenant, space belief.Space, id policy.ID, dry bool) (list []BeliefPromotion, _ error) {
	if !dry {
		if err := mayBelieve(ctx, "promote"); err != nil {
			return nil, err
		}
	}
	if id == "" {
		id = rules.ID
	}
	registered, err := Policies(k).Get(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	p, err := rules.Of(registered)
	if err != nil {
		return nil, err
	}
	conflicts, err := k.Conflicts(ctx, tenant, space)
	if err != nil {
		return nil, err
	}
	w, err := k.web(ctx, tenant, space)
	if err != nil {
		return nil, err
	}
	items := make([]belief.Item, len(w.revisions))
	tags := make([]map[string]bool, len(w.revisions))
	for i, r := range w.revisions {
		items[i], tags[i] = r.Item, map[string]bool{}
		record, err := k.journal().Item(ctx, tenant, r.Item, w.asOf)
		if err != nil {
			return nil, err
		}
		for _, t := range record.Tags {
			if t.Until == journal.Forever {
				tags[i][t.Name] = true
			}
		}
	}
	uses, err := k.journal().Used(ctx, tenant, items, w.asOf)
	if err != nil {
		return nil, err
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	for _, promotion := range rules.Promote(p, w.candidates(uses, tags, conflicts), now) {
		done := BeliefPromotion{Promotion: promotion}
		r := w.revisions[w.of[belief.Item(promotion.ID)]]
		done.From = belief.Address{Item: r.Item, Revision: r.Number}
		if promotion.Step.Tag != "" {
			done.To = r.Item
			if !dry {
				if done.Acted, err = k.Act(ctx, tenant, journal.Act{Item: r.Item, Tag: promotion.Step.Tag, Number: r.Number, Reason: promotion.Reason}); err != nil {
					return list, err
				}
			}
			list = append(list, done)
			continue
		}
		if done.To, err = promotedItem(r.Item, promotion.Step.To); err != nil {
			return list, err
		}
		if w.promoted(w.of[r.Item], promotion.Step.To) || slices.ContainsFunc(list, func(other BeliefPromotion) bool {
			return other.Step.To == promotion.Step.To && slices.Contains(other.Sources, string(r.Item))
		}) {
			continue
		}
		if _, err := k.journal().Item(ctx, tenant, done.To, w.asOf); err == nil {
			continue // somebody gave it up since
		} else if !errors.Is(err, journal.ErrNoItem) {
			return list, err
		}
		if done.Outcome, err = k.promote(ctx, tenant, w, r, &done, dry); err != nil {
			return list, err
		}
		list = append(list, done)
	}
	return list, nil
}

// promotedItem names what an item becomes. The name follows from that of the item and not from what it states, which may have to be erased.
func promotedItem(from belief.Item, kind string) (belief.Item, error) {
	digest := sha256.Sum256([]byte("promoted " + string(from)))
	return belief.NewItem(from.Space(), hex.EncodeToString(digest[:10])+"."+kind)
}

// promoted reports whether a revision was promoted to a kind, or an item of that kind states the same.
func (w *web) promoted(i int, kind string) bool {
	for _, l := range w.out[i] {
		if to, err := belief.ParseAddress(l.To); err == nil && l.Type == journal.PromotedTo && to.Item.Kind() == kind {
			return true
		}
	}
	return slices.ContainsFunc(w.revisions, func(r *journal.Revision) bool {
		return r.Item.Kind() == kind && similar(w.revisions[i], r) > 0
	})
}

func (k Beliefs) promote(ctx context.Context, tenant dag.Tenant, w *web, r *journal.Revision, done *BeliefPromotion, dry bool) (*journal.Outcome, error) {
	in := &BeliefRequest{
		Operator: journal.Propose, Space: r.Item.Space(), Item: done.To, Kind: done.Step.To, Span: belief.Always, Title: r.Title, Summary: r.Summary, Keywords: r.Keywords, Topics: r.Topics,
		Confidence: r.Confidence, Reason: done.Reason, Dry: dry,
	}
	if r.Withheld {
		in.Title, in.Summary = "", ""
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		if s.Premises != nil {
			continue // a rule stays where it is
		}
		in.Statements = append(in.Statements, s.Literal)
		in.Span.From, in.Span.Until = max(in.Span.From, s.Span.From), min(in.Span.Until, s.Span.Until)
		for _, turn := range s.Turns {
			if !slices.Contains(in.Turns, turn) {
				in.Turns = append(in.Turns, turn)
			}
		}
	}
	slices.SortFunc(in.Turns, dag.TurnID.Compare)
	if len(in.Statements) == 0 {
		return &journal.Outcome{Result: journal.Unchanged}, nil
	}
	var from []belief.Address
	for _, source := range append(done.Sources, string(r.Item)) {
		if at, ok := w.of[belief.Item(source)]; ok {
			a := belief.Address{Item: w.revisions[at].Item, Revision: w.revisions[at].Number}
			if !slices.Contains(from, a) {
				from = append(from, a)
			}
		}
	}
	made, err := k.request(ctx, tenant, in)
	if err != nil {
		return nil, err
	}
	var o *journal.Outcome
	err = k.underPolicy(ctx, tenant, in.Space, func(p kinds.Policy, id string) error {
		k.decideUnder(ctx, made, in, p, id)
		made.Rank.Class, made.Rank.Criterion = belief.Inferred, uint64(in.Confidence) // what promotes is a rule, and no person
		o, err = k.journal().Promote(ctx, tenant, made.Request, from)
		return err
	})
	return o, err
}

// A BeliefCascade is what becomes of beliefs whose evidence fell.
type BeliefCascade struct {
	Seq      dag.Seq // of the first entry; 0: nothing was recorded
	Lowered  []rules.Lowering
	Excepted []string // addresses that are published, and keep their confidence
}

// Cascade computes the confidence of the beliefs of a space whose evidence fell: a revision that is believed no longer, or a turn without its text. All of it is one change. Dry,
// it records nothing.
func (k Beliefs) Cascade(ctx context.Context, tenant dag.Tenant, space belief.Space, dry bool) (*BeliefCascade, error) {
	if !dry {
		if err := mayBelieve(ctx, "lower what is believed"); err != nil {
			return nil, err
		}
	}
	if _, err := k.journal().Space(ctx, tenant, space, history.Forever-1); err != nil {
		return nil, err
	}
	w, err := k.web(ctx, tenant, space)
	if err != nil {
		return nil, err
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	out := &BeliefCascade{}
	nodes, rests, links, err := k.graph(ctx, tenant, w, now)
	if err != nil {
		return nil, err
	}
	var list []journal.Lowering
	fell := map[string]bool{}
	for _, n := range nodes {
		fell[n.ID] = n.Fell
	}
	all, err := k.cascade(ctx, tenant, w, nodes, rests)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		fell[l.ID] = fell[l.ID] || l.Invalid
	}
	for _, l := range all {
		if l.Kept {
			out.Excepted = append(out.Excepted, l.ID)
			continue
		}
		r := w.revisions[w.at[l.ID]]
		lower := journal.Lowering{Item: r.Item, Number: r.Number, Confidence: l.After, Invalid: l.Invalid, Reason: l.Reason}
		for _, e := range links[l.ID] {
			if !fell[e.node] {
				lower.Evidence = append(lower.Evidence, journal.Link{Type: "derived_from", To: e.to})
			}
		}
		out.Lowered, list = append(out.Lowered, l), append(list, lower)
	}
	if dry || len(list) == 0 {
		return out, nil
	}
	var salt dag.Salt
	if err := k.draw(salt[:]); err != nil {
		return nil, err
	}
	out.Seq, err = k.journal().Lower(ctx, tenant, list, access.CallerIn(ctx), now, salt)
	k.changes.tell(tenant)
	return out, err
}

// cascade computes what falls, given that what is published does not. Only of what would fall is it asked whether it is.
func (k Beliefs) cascade(ctx context.Context, tenant dag.Tenant, w *web, nodes []rules.Node, rests []rules.Rest) ([]rules.Lowering, error) {
	asked := map[string]bool{}
	for {
		all, again := rules.Cascade(nodes, rests), false
		for _, l := range all {
			at, ok := w.at[l.ID]
			if !ok || asked[l.ID] {
				continue
			}
			asked[l.ID] = true
			r := w.revisions[at]
			record, err := k.journal().Item(ctx, tenant, r.Item, w.asOf)
			if err != nil {
				return nil, err
			}
			if published := record.Tagged(journal.Published); published != nil && published.Number == r.Number {
				nodes[at].Kept, again = true, true // the nodes of revisions come first
			}
		}
		if !again {
			return all, nil
		}
	}
}

// A piece is evidence of a revision: the node that it is, and where a link to it leads.
type piece struct{ node, to string }

// graph is what is believed of a space, and what it rests on. A revision that was superseded is as good as the one in its place, if that still states what it did.
func (k Beliefs) graph(ctx context.Context, tenant dag.Tenant, w *web, now dag.Time) (nodes []rules.Node, rests []rules.Rest, links map[string][]piece, _ error) {
	links = map[string][]piece{}
	ended := func(r *journal.Revision) bool {
		return !slices.ContainsFunc(r.Statements, func(s journal.Stated) bool { return s.Span.Until > now })
	}
	for _, r := range w.revisions {
		nodes = append(nodes, rules.Node{ID: addressOf(r), Confidence: r.Confidence, Fell: ended(r)})
	}
	seen := map[string]string{} // a node, by where a link leads
	find := func(to string) (string, error) {
		if node, ok := seen[to]; ok {
			return node, nil
		}
		node := rules.Node{ID: to, Confidence: dag.One}
		if turn, ok := strings.CutPrefix(to, "turn:"); ok {
			id, err := dag.ParseTurnID(turn)
			if err != nil {
				return "", err
			}
			records, err := k.store.Turns(ctx, tenant, store.IDs([]dag.TurnID{id}))
			if err != nil {
				return "", err
			}
			node.Fell = len(records) == 0 || records[0].Body == nil && !records[0].Withheld
		} else if a, err := belief.ParseAddress(to); err == nil {
			if _, ok := w.at[to]; ok {
				seen[to] = to
				return to, nil
			}
			record, err := k.journal().Item(ctx, tenant, a.Item, w.asOf)
			if err != nil {
				return "", err
			}
			old, current := record.Numbered(a.Revision), record.Tagged(journal.Current)
			if old != nil {
				node.Confidence = old.Confidence
			}
			node.Fell = old == nil || old.Erased || current == nil || current.Erased || record.Deprecated || ended(current) || similar(old, current) == 0
			if at, ok := w.of[a.Item]; ok && !node.Fell {
				seen[to] = addressOf(w.revisions[at])
				return seen[to], nil
			}
		}
		nodes = append(nodes, node)
		seen[to] = to
		return to, nil
	}
	rest := func(r *journal.Revision, to string) error {
		node, err := find(to)
		if err == nil {
			rests = append(rests, rules.Rest{Belief: addressOf(r), Evidence: node})
			links[addressOf(r)] = append(links[addressOf(r)], piece{node, to})
		}
		return err
	}
	for i, r := range w.revisions {
		for _, l := range w.out[i] {
			if slices.Contains(evidential, l.Type) {
				if err := rest(r, l.To); err != nil {
					return nil, nil, nil, err
				}
			}
		}
		for _, l := range w.in[i] {
			if slices.Contains(supporting, l.Type) || l.Type == journal.PromotedTo {
				if err := rest(r, l.From.String()); err != nil {
					return nil, nil, nil, err
				}
			}
		}
	}
	return nodes, rests, links, nil
}
