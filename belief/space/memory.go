package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/standing"
)

// Memories remembers texts, finds and forgets them, and says why they hold. A memory is an item; its id is the item's name.
type Memories struct{ reader }

// Operations lists the operations on memories.
func (k Memories) Operations() []api.Answer {
	return []api.Answer{api.Remember.By(k.Remember), api.ListMemories.By(k.List), api.Forget.By(k.Forget), api.AcceptMemory.By(k.Accept), api.ExplainMemory.By(k.Explain), api.MemoryHistory.By(k.History), api.MemoryLinks.By(k.Links)}
}

// A held memory is an item with the revision that is believed.
type heldMemory struct {
	api.Memory
	revision *journal.Revision // nil: a proposal that waits
	newest   int               // the number of the item's newest revision, if the memory was named
	conflict *journal.Conflict
}

// textOf returns what a revision says: its text, or its statements as they were written; "" if it was erased.
func textOf(r *journal.Revision) string {
	if r.Text != "" && !r.Withheld {
		return r.Text
	}
	if r.Erased {
		return ""
	}
	var stated []belief.Literal
	for i := range r.Statements {
		stated = append(stated, r.Statements[i].Literal)
	}
	return statedText(stated, r.Wording)
}

// statedText returns statements as they were written, in lines.
func statedText(list []belief.Literal, words journal.Wording) string {
	var lines []string
	for _, s := range wordedAll(list, words) {
		lines = append(lines, s.Text())
	}
	return strings.Join(lines, "\n")
}

func memoryOf(r *journal.Revision, course standing.Course) api.Memory {
	of, _ := course.OfBelief(r.Seq, r.By, r.Vouched())
	return api.Memory{
		ID: idOf(r.Item), Text: textOf(r), Kind: r.Item.Kind(), By: r.By, Since: r.At, Project: r.Item.Space(), Proposed: !r.Vouched(), Standing: of.Standing.String(), Turns: r.RestsOn(), Revision: r.Number,
	}
}

// malformed returns the error of a request that names a memory in a wrong way.
func malformed(format string, args ...any) error {
	return &api.Fault{Code: api.CodeInvalid, Err: fmt.Errorf("%w: "+format, append([]any{belief.ErrForm}, args...)...)}
}

// idOf returns the name of an item without its kind.
func idOf(item belief.Item) string { return strings.TrimSuffix(item.Name(), "."+item.Kind()) }

// waitingID begins the id of a proposal that waits; its number follows.
const waitingID = "w"

func waitingMemory(c *journal.Conflict) api.Memory {
	m := api.Memory{ID: waitingID + strconv.FormatUint(uint64(c.Seq), 10), Text: c.Text, Kind: c.Kind, By: c.By, Since: c.At, Project: c.Space, Proposed: true, Standing: standing.Agent.String(), Turns: c.Turns}
	if c.Item != "" {
		m.Kind = c.Item.Kind()
	}
	m.Text = cmp.Or(m.Text, statedText(c.Statements, c.Wording))
	return m
}

// Remember makes a text believed: as the word of a person, or as the proposal of an agent.
func (k Memories) Remember(ctx context.Context, tenant dag.Tenant, in api.NewMemory) (out api.Remembered, err error) {
	ctx, observed := k.kernel.Observe(ctx, "remember")
	defer func() { observed(err) }()
	may, err := k.believes(ctx, tenant)
	if err != nil {
		return out, err
	}
	out.GaveWay = []api.Memory{}
	r := &api.BeliefRequest{Space: cmp.Or(in.Project, api.General), Text: in.Text, Slot: in.Slot, Kind: kindNamed(in.Kind), Turns: in.Turns, Keywords: in.Keywords, Reason: in.Reason, DryRun: in.DryRun}
	if in.Instead != "" {
		old, err := k.named(ctx, tenant, in.Instead)
		if err != nil {
			return out, err
		}
		if old.revision == nil {
			return out, malformed("%s is a proposal that waits; accept or forget it", old.ID)
		}
		r.Item, r.Space = old.revision.Item, old.Project
		if in.Project != "" && in.Project != r.Space {
			return out, malformed("the memory %s is of the project %s, and project is %s", old.ID, r.Space, in.Project)
		}
		if r.Kind = r.Item.Kind(); in.Kind != "" && kindNamed(in.Kind) != r.Kind {
			return out, fmt.Errorf("%w: the memory %s is of the kind %s and cannot become a %s; forget it, and remember the text as a new one", belief.ErrKind, old.ID, r.Kind, in.Kind)
		}
	}
	given := r.Kind
	r.Kind = cmp.Or(r.Kind, "fact")
	list, err := k.of(ctx, tenant, r.Space, 0)
	makes := errors.Is(err, journal.ErrSpace)
	if err != nil && !makes {
		return out, err
	}
	var changes *heldMemory // the same text, which the request makes one of another kind
	if same := sameText(list, &in, r.Kind); same >= 0 {
		switch old := &list[same]; {
		case old.Kind != r.Kind && given != "" && may:
			changes = old
		case old.Kind != r.Kind && (given != "" || may && old.Proposed): // another one: the kind that an agent gave a text is not the person's
		case may && old.Proposed: // a person repeats the proposal
			r.Item = cmp.Or(r.Item, old.revision.Item)
		case r.Item != "" && r.Item != old.revision.Item:
			return k.instead(ctx, tenant, &in, in.Instead, api.Remembered{ID: old.ID, GaveWay: out.GaveWay})
		default:
			out.ID, out.Result = old.ID, journal.Unchanged
			return out, nil
		}
	}
	if given == "" && may && len(list) > 0 {
		if r.Kind, err = k.inherited(ctx, tenant, *r); err != nil {
			return out, err
		}
	}
	o, err := k.decideMemory(ctx, tenant, r, may, makes)
	if err != nil {
		return out, err
	}
	out, err = k.remembered(ctx, tenant, r, o, list, may)
	if err != nil || changes == nil || out.Result != journal.Changed {
		return out, err
	}
	out.Nearest = nil // it is the same text
	return k.instead(ctx, tenant, &in, changes.ID, out)
}

// sameText returns the index of the memory that has the text of a request: of its kind if there is one, else of any; -1 if there is none.
func sameText(list []heldMemory, in *api.NewMemory, kind string) int {
	same := func(m heldMemory) bool { return m.revision.Text == in.Text }
	if i := slices.IndexFunc(list, func(m heldMemory) bool { return same(m) && m.Kind == kind }); i >= 0 {
		return i
	}
	return slices.IndexFunc(list, same)
}

// inherited returns the kind of what a text would end, if that is one kind, so that a rule that is said anew stays one; else the kind of the request.
func (k Memories) inherited(ctx context.Context, tenant dag.Tenant, r api.BeliefRequest) (string, error) {
	r.DryRun = true
	o, err := k.decideMemory(ctx, tenant, &r, true, false)
	if err != nil {
		return "", err
	}
	kind := ""
	for i := range o.GaveWay {
		of := o.GaveWay[i].Revision.Item.Kind()
		if kind != "" && of != kind {
			return r.Kind, nil
		}
		kind = of
	}
	return cmp.Or(kind, r.Kind), nil
}

// replacedBy begins the reason for which a memory was forgotten that another one replaces.
const replacedBy = "replaced by "

// instead forgets a memory, for another one that is remembered now or was before.
func (k Memories) instead(ctx context.Context, tenant dag.Tenant, in *api.NewMemory, old string, now api.Remembered) (api.Remembered, error) {
	gone, err := k.Forget(ctx, tenant, api.OldMemory{ID: old, Reason: cmp.Or(in.Reason, replacedBy+now.ID), DryRun: in.DryRun})
	if err != nil {
		return now, fmt.Errorf("the text is remembered, and %s, which it replaces, could not be forgotten: %w", old, err)
	}
	now.GaveWay, now.Result, now.Seq = append(now.GaveWay, gone.Forgotten), cmp.Or(now.Result, gone.Result), cmp.Or(now.Seq, gone.Seq)
	return now, nil
}

// decideMemory decides a request of a person or an agent about a text. makes: the space is not there, and is made.
func (k Memories) decideMemory(ctx context.Context, tenant dag.Tenant, r *api.BeliefRequest, may, makes bool) (*journal.Outcome, error) {
	op := journal.Propose
	if may {
		op = journal.Revise
	}
	made, err := k.statements().request(ctx, tenant, op, r, nil)
	if err != nil {
		return nil, err
	}
	made.NewSpace = makes
	return k.statements().decide(ctx, tenant, made, nil)
}

// remembered converts an outcome. list has the memories of the space before.
func (k Memories) remembered(ctx context.Context, tenant dag.Tenant, r *api.BeliefRequest, o *journal.Outcome, list []heldMemory, may bool) (out api.Remembered, err error) {
	course, err := k.kernel.Course(ctx, tenant, 0)
	if err != nil {
		return out, err
	}
	out.GaveWay, out.Seq = []api.Memory{}, o.Seq
	var lost []api.Memory
	for i := range o.GaveWay {
		if of := o.GaveWay[i].Revision; !slices.ContainsFunc(o.GaveWay[:i], func(l journal.Loss) bool { return l.Revision == of }) {
			lost = append(lost, memoryOf(of, course))
		}
	}
	switch out.Result = o.Result; {
	case o.Result == journal.Refused && may && o.Protects:
		return out, published(lost)
	case o.Result == journal.Refused:
		out.Result, out.Against = proposed, lost
		if o.Seq != 0 {
			out.ID = waitingID + strconv.FormatUint(uint64(o.Seq), 10)
		}
		return out, nil
	case o.Result == journal.Changed && !may:
		out.Result = proposed
	}
	for i := range list { // the same in other words
		if m := &list[i]; o.Result == journal.Changed && len(lost) == 0 && m.revision.Item == o.Item && m.Text != r.Text {
			lost = append(lost, m.Memory)
		}
	}
	out.GaveWay = append(out.GaveWay, lost...)
	if o.Item != "" && !(r.DryRun && o.Revision == 1) {
		out.ID = idOf(o.Item)
	}
	if o.Result == journal.Changed && len(lost) == 0 && r.Item == "" {
		out.Nearest, err = k.nearest(ctx, tenant, r.Text, list)
	}
	return out, err
}

const proposed = "proposed"

// Accept makes a proposal the word of the person who accepts it.
func (k Memories) Accept(ctx context.Context, tenant dag.Tenant, in api.OldMemory) (out api.Remembered, err error) {
	ctx, observed := k.kernel.Observe(ctx, "accept")
	defer func() { observed(err) }()
	if err := k.mayBelieve(ctx, tenant, "accept a proposal"); err != nil {
		return out, err
	}
	m, err := k.named(ctx, tenant, in.ID)
	if err != nil {
		return out, err
	}
	out.GaveWay = []api.Memory{}
	if m.conflict != nil {
		return k.take(ctx, tenant, m.conflict, &in)
	}
	if err := m.seen(&in); err != nil {
		return out, err
	}
	if !m.Proposed {
		out.ID, out.Result = m.ID, journal.Unchanged
		return out, nil
	}
	old := m.revision
	r := &api.BeliefRequest{
		Space: old.Item.Space(), Item: old.Item, Kind: old.Item.Kind(), Text: old.Text, Title: old.Title, Summary: old.Summary, Keywords: old.Keywords, Topics: old.Topics, Artifacts: old.Artifacts,
		Turns: old.RestsOn(), Reason: in.Reason, DryRun: in.DryRun,
	}
	for i := range old.Statements {
		if s := &old.Statements[i]; s.Premises == nil {
			r.Statements = append(r.Statements, s.Literal)
		}
	}
	made, err := k.statements().request(ctx, tenant, journal.Revise, r, old.Wording)
	if err != nil {
		return out, err
	}
	o, err := k.statements().decide(ctx, tenant, made, nil)
	if err != nil {
		return out, err
	}
	return k.remembered(ctx, tenant, r, o, nil, true)
}

// take revises with a proposal that waits.
func (k Memories) take(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, in *api.OldMemory) (out api.Remembered, err error) {
	done, err := k.statements().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: c.Space, Conflict: c.Seq, How: journal.Taken, Reason: in.Reason, DryRun: in.DryRun})
	if err != nil {
		return out, err
	}
	course, err := k.kernel.Course(ctx, tenant, 0)
	if err != nil {
		return out, err
	}
	o := done.Outcome
	var lost []api.Memory
	for i := range o.GaveWay {
		l := &o.GaveWay[i]
		record, err := k.journal().Item(ctx, tenant, l.Item, history.Forever-1)
		if err != nil {
			return out, err
		}
		if m := memoryOf(record.Numbered(l.Revision), course); !slices.ContainsFunc(lost, func(o api.Memory) bool { return o.ID == m.ID }) {
			lost = append(lost, m)
		}
	}
	if o.Outcome == journal.Refused {
		return out, published(lost)
	}
	out = api.Remembered{ID: waitingID + strconv.FormatUint(uint64(c.Seq), 10), Result: o.Outcome, GaveWay: append([]api.Memory{}, lost...), Seq: o.Seq}
	if !in.DryRun {
		out.ID = idOf(o.Item)
	}
	return out, nil
}

// published returns the error of a request that would replace memories that are protected.
func published(lost []api.Memory) error {
	return fmt.Errorf("%w: %q, which is published; remove its tag published first, with graphkernel belief tag ITEM published none", belief.ErrProtected, texts(lost))
}

func texts(list []api.Memory) (all []string) {
	for i := range list {
		all = append(all, list[i].Text)
	}
	return all
}

// seen returns an error if the caller has seen another revision of the memory.
func (m *heldMemory) seen(in *api.OldMemory) error {
	if in.Revision != 0 && in.Revision != m.Revision {
		return fmt.Errorf("%w: revision %d of %s was read, and it is revision %d now", journal.ErrChanged, in.Revision, m.ID, m.Revision)
	}
	return nil
}

// Forget ends the belief in a memory, or drops a waiting proposal. An agent may forget only its own proposals.
func (k Memories) Forget(ctx context.Context, tenant dag.Tenant, in api.OldMemory) (out api.Forgotten, err error) {
	ctx, observed := k.kernel.Observe(ctx, "forget")
	defer func() { observed(err) }()
	m, err := k.named(ctx, tenant, in.ID)
	if err != nil {
		return out, err
	}
	may, err := k.believes(ctx, tenant)
	if err != nil {
		return out, err
	}
	if !may && (!m.Proposed || m.By != access.CallerIn(ctx)) {
		return out, fmt.Errorf("%w; an agent forgets only what it proposed itself", mayNotBelieve(ctx, "to forget what another one said"))
	}
	out.Forgotten, out.Result = m.Memory, journal.Changed
	if err := m.seen(&in); err != nil || in.DryRun {
		return out, err
	}
	if c := m.conflict; c != nil {
		now, err := k.kernel.Now()
		if err != nil {
			return out, err
		}
		done, _, err := k.journal().Resolve(ctx, tenant, journal.Resolution{Space: c.Space, Conflict: c.Seq, How: journal.Dropped, By: access.CallerIn(ctx), Reason: in.Reason, At: now}, nil)
		if err != nil {
			return out, err
		}
		out.Seq = done.Seq
		k.kernel.Changed(tenant)
		return out, nil
	}
	done, err := k.catalog().act(ctx, tenant, journal.Act{Item: m.revision.Item, Deprecates: true, Newest: m.newest, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	out.Result, out.Seq = done.Result, done.Seq
	return out, nil
}
