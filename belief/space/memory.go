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
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/standing"
)

// Memories remembers texts, finds and forgets them, and says why they hold. A memory is an item; its id is the item's name.
type Memories struct{ reader }

// Operations lists the operations on memories.
func (k Memories) Operations() []api.Answer {
	return []api.Answer{api.Remember.By(k.Remember), api.ListMemories.By(k.List), api.Forget.By(k.Forget), api.AcceptMemory.By(k.Accept), api.ExplainMemory.By(k.Explain), api.MemoryHistory.By(k.History)}
}

// A held memory is an item with the revision that is believed.
type heldMemory struct {
	api.Memory
	revision *journal.Revision // nil: a proposal that waits
	conflict *journal.Conflict
}

// textOf returns what a revision says: its text, or its statements as they were written.
func textOf(r *journal.Revision) string {
	if r.Text != "" && !r.Withheld {
		return r.Text
	}
	var lines []string
	for i := range r.Statements {
		s := worded(r.Statements[i].Literal, r.Wording)
		lines = append(lines, s.Text())
	}
	return strings.Join(lines, "\n")
}

func memoryOf(r *journal.Revision, course standing.Course) api.Memory {
	of, _ := course.OfBelief(r.Seq, r.By, r.Vouched())
	return api.Memory{
		ID: idOf(r.Item), Text: textOf(r), Kind: r.Item.Kind(), By: r.By, Since: r.At, Project: r.Item.Space(), Proposed: !r.Vouched(), Standing: of.Standing.String(), Turns: r.RestsOn(),
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
	if m.Text == "" {
		var lines []string
		for _, l := range c.Statements {
			s := worded(l, c.Wording)
			lines = append(lines, s.Text())
		}
		m.Text = strings.Join(lines, "\n")
	}
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
	if same := slices.IndexFunc(list, func(m heldMemory) bool { return m.Text == in.Text && m.Kind == r.Kind && m.revision.Text != "" }); same >= 0 {
		switch old := &list[same]; {
		case r.Item == "" && (!old.Proposed || !may), r.Item == old.revision.Item && (!old.Proposed || !may):
			out.ID, out.Result = old.ID, journal.Unchanged
			return out, nil
		case r.Item != "" && r.Item != old.revision.Item && (!old.Proposed || !may):
			return k.instead(ctx, tenant, &in, old)
		case r.Item == "":
			r.Item = old.revision.Item // the person says what was proposed
		}
	}
	if given == "" && may {
		if r.Kind, err = k.inherited(ctx, tenant, *r, makes); err != nil {
			return out, err
		}
	}
	o, err := k.decideMemory(ctx, tenant, r, may, makes)
	if err != nil {
		return out, err
	}
	return k.remembered(ctx, tenant, r, o, list, may)
}

// inherited returns the kind of what a text would end, if that is one kind, so that a rule that is said anew stays one; else the kind of the request.
func (k Memories) inherited(ctx context.Context, tenant dag.Tenant, r api.BeliefRequest, makes bool) (string, error) {
	r.DryRun = true
	o, err := k.decideMemory(ctx, tenant, &r, true, makes)
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

// instead forgets the memory that a request replaces by a text that is remembered already.
func (k Memories) instead(ctx context.Context, tenant dag.Tenant, in *api.NewMemory, by *heldMemory) (api.Remembered, error) {
	gone, err := k.Forget(ctx, tenant, api.OldMemory{ID: in.Instead, Reason: cmp.Or(in.Reason, replacedBy+by.ID), DryRun: in.DryRun})
	if err != nil {
		return api.Remembered{}, err
	}
	return api.Remembered{ID: by.ID, Result: gone.Result, GaveWay: []api.Memory{gone.Forgotten}, Seq: gone.Seq}, nil
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
		return out, fmt.Errorf("%w: %q, which is published; remove its tag published first, with graphkernel belief tag ITEM published none", belief.ErrProtected, lost[0].Text)
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
	if c := m.conflict; c != nil {
		var with []api.Memory
		for _, a := range c.With {
			if old, err := k.byItem(ctx, tenant, a.Item); err == nil && old.revision != nil {
				with = append(with, old.Memory)
			}
		}
		done, err := k.statements().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: c.Space, Conflict: c.Seq, How: journal.Taken, Reason: in.Reason, DryRun: in.DryRun})
		if err != nil {
			return out, err
		}
		if o := done.Outcome; o != nil {
			out.ID, out.Seq, out.Result = "", o.Seq, o.Outcome
			if o.Item != "" {
				out.ID = idOf(o.Item)
			}
			if o.Outcome == journal.Refused {
				return out, fmt.Errorf("%w: it is published", belief.ErrProtected)
			}
			out.GaveWay = append(out.GaveWay, with...)
		}
		return out, nil
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

// Forget ends the belief in a memory, or drops a proposal that waits. An agent forgets only what it proposed itself and nobody vouches for.
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
	if in.DryRun {
		return out, nil
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	if c := m.conflict; c != nil {
		done, _, err := k.journal().Resolve(ctx, tenant, journal.Resolution{Space: c.Space, Conflict: c.Seq, How: journal.Dropped, By: access.CallerIn(ctx), Reason: in.Reason, At: now}, nil)
		if err != nil {
			return out, err
		}
		out.Seq = done.Seq
		k.kernel.Changed(tenant)
		return out, nil
	}
	done, err := k.catalog().act(ctx, tenant, journal.Act{Item: m.revision.Item, Deprecates: true, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	out.Result, out.Seq = done.Result, done.Seq
	return out, nil
}

// of returns the memories of a space as of a number, the newest first; 0 is the present.
func (k Memories) of(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) ([]heldMemory, error) {
	asOf, err := k.kernel.AsOf(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	if _, err := k.spaceOf(ctx, tenant, space, asOf); err != nil {
		return nil, err
	}
	held, err := k.journal().Believed(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	course, err := k.kernel.Course(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	var list []heldMemory
	var last *journal.Revision
	for i := range held { // in the order of their revisions
		if r := held[i].Revision; r != last {
			last = r
			list = append(list, heldMemory{Memory: memoryOf(r, course), revision: r})
		}
	}
	slices.Reverse(list)
	return list, nil
}

// waiting returns the proposals of a space that wait, the newest first.
func (k Memories) waiting(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (list []heldMemory, _ error) {
	waits, err := k.journal().Conflicts(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(waits) {
		if c.Erased {
			continue
		}
		m := heldMemory{Memory: waitingMemory(c), conflict: c}
		for _, with := range c.With {
			record, err := k.journal().Item(ctx, tenant, with.Item, asOf)
			if err != nil {
				return nil, err
			}
			if old := record.Numbered(with.Revision); old != nil && !old.Erased {
				m.Against = append(m.Against, textOf(old))
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// spaces returns the spaces that a caller may see, ascending, or the one that is named.
func (k Memories) spaces(ctx context.Context, tenant dag.Tenant, named belief.Space, asOf dag.Seq) ([]belief.Space, error) {
	if named != "" {
		return []belief.Space{named}, ScopeOf(ctx).Check(named)
	}
	all, err := k.journal().Spaces(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	var list []belief.Space
	for space := range all {
		if ScopeOf(ctx).Sees(string(space)) {
			list = append(list, space)
		}
	}
	slices.Sort(list)
	return list, nil
}

// List returns the memories of a project or of all of them: those that match the words, the best first, or all, the newest first.
func (k Memories) List(ctx context.Context, tenant dag.Tenant, in api.MemoriesQuery) (out api.Memories, err error) {
	ctx, observed := k.kernel.Observe(ctx, "memories")
	defer func() { observed(err) }()
	after, asOf, err := in.InView(in.AsOf)
	if err != nil {
		return out, err
	}
	if asOf, err = k.kernel.AsOf(ctx, tenant, asOf); err != nil {
		return out, err
	}
	list, err := k.all(ctx, tenant, in.Project, asOf, in.Proposed)
	if err != nil {
		return out, err
	}
	kind := kindNamed(in.Kind)
	list = slices.DeleteFunc(list, func(m heldMemory) bool {
		return kind != "" && m.Kind != kind || in.Proposed && !m.Proposed || in.Around != "" && m.Project.OfProject() && m.Project != in.Around && m.Project != api.General
	})
	if err := kinds.Default().Allow(kind); kind != "" && len(list) == 0 && err != nil {
		return out, err
	}
	if in.Words != "" {
		if list, err = k.search(ctx, tenant, in.Words, list); err != nil {
			return out, err
		}
	}
	out.Memories = []api.Memory{}
	for i := int(min(after, dag.Seq(len(list)))); i < len(list); i++ { //nolint:gosec // at most the length
		if len(out.Memories) == in.Size() {
			out.Next = api.NextInView(dag.Seq(i), asOf) //nolint:gosec // an index
			break
		}
		out.Memories = append(out.Memories, list[i].Memory)
	}
	return out, nil
}

// kindNamed returns the kind that a name stands for: a rule is a hard_rule.
func kindNamed(name string) string {
	if name == "rule" {
		return "hard_rule"
	}
	return name
}

// all returns the memories of a project, or of all spaces that the caller may see, the newest first. A project that has no space yet has none.
func (k Memories) all(ctx context.Context, tenant dag.Tenant, project belief.Space, asOf dag.Seq, waiting bool) (list []heldMemory, _ error) {
	spaces, err := k.spaces(ctx, tenant, project, asOf)
	if err != nil {
		return nil, err
	}
	for _, space := range spaces {
		some, err := k.of(ctx, tenant, space, asOf)
		if errors.Is(err, journal.ErrSpace) && project != "" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
		if waiting {
			if some, err = k.waiting(ctx, tenant, space, asOf); err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
	}
	slices.SortStableFunc(list, func(a, b heldMemory) int { return cmp.Compare(b.seq(), a.seq()) })
	return list, nil
}

func (m *heldMemory) seq() dag.Seq {
	if m.conflict != nil {
		return m.conflict.Seq
	}
	return m.revision.Seq
}

// shortestID is the least number of characters of a beginning of an id.
const shortestID = 4

// named returns the memory that an id, a beginning of one or an address names. It need not hold any more.
func (k Memories) named(ctx context.Context, tenant dag.Tenant, id string) (m heldMemory, _ error) {
	if belief.IsAddress(id) {
		a, err := belief.ParseAddress(id)
		if err != nil {
			return m, err
		}
		return k.byItem(ctx, tenant, a.Item)
	}
	spaces, err := k.spaces(ctx, tenant, "", history.Forever-1)
	if err != nil {
		return m, err
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(id, waitingID), 10, 64); err == nil && strings.HasPrefix(id, waitingID) {
		for _, space := range spaces {
			waits, err := k.waiting(ctx, tenant, space, history.Forever-1)
			if err != nil {
				return m, err
			}
			for _, w := range waits {
				if w.conflict.Seq == dag.Seq(n) {
					return w, nil
				}
			}
		}
		return m, fmt.Errorf("%w: no proposal %s waits", journal.ErrNoItem, id)
	}
	if len(id) < shortestID {
		return m, malformed("the id %q, want at least its first %d characters", id, shortestID)
	}
	var found []belief.Item
	for _, space := range spaces {
		const some = 64
		names, err := k.journal().Names(ctx, tenant, space, id, some, history.Forever-1)
		if err != nil {
			return m, err
		}
		for _, item := range names {
			if idOf(item) == id {
				return k.byItem(ctx, tenant, item)
			}
			if strings.HasPrefix(item.Name(), id) {
				found = append(found, item)
			}
		}
	}
	switch len(found) {
	case 0:
		return m, fmt.Errorf("%w: no memory has the id %.80q; list them with their ids", journal.ErrNoItem, id)
	case 1:
		return k.byItem(ctx, tenant, found[0])
	}
	return m, malformed("the ids of %d memories begin with %q, such as %s and %s; give more of it", len(found), id, idOf(found[0]), idOf(found[1]))
}

// byItem returns the memory that an item is, with its newest revision if none is believed.
func (k Memories) byItem(ctx context.Context, tenant dag.Tenant, item belief.Item) (m heldMemory, _ error) {
	kref, err := k.catalog().Kref(ctx, tenant, belief.Address{Item: item})
	if err != nil {
		return m, err
	}
	r := cmp.Or(kref.Revision, kref.Record.Revisions[len(kref.Record.Revisions)-1])
	course, err := k.kernel.Course(ctx, tenant, 0)
	return heldMemory{Memory: memoryOf(r, course), revision: r}, err
}

// found returns the memory that a query names.
func (k Memories) found(ctx context.Context, tenant dag.Tenant, in api.MemoryName) (m heldMemory, err error) {
	switch {
	case (in.ID == "") == (in.Words == ""):
		return m, malformed("give the id of a memory, or words that find it")
	case in.ID != "":
		return k.named(ctx, tenant, in.ID)
	}
	list, err := k.all(ctx, tenant, in.Project, 0, true)
	if err == nil {
		list, err = k.search(ctx, tenant, in.Words, list)
	}
	if err == nil && len(list) == 0 {
		if list, err = k.over(ctx, tenant, in.Project); err == nil {
			list, err = k.search(ctx, tenant, in.Words, list)
		}
	}
	if err != nil {
		return m, err
	}
	if len(list) == 0 {
		return m, fmt.Errorf("%w: nothing that is remembered matches %.80q", journal.ErrNoItem, in.Words)
	}
	return list[0], nil
}

// over returns the memories of a project, or of all spaces, that hold no longer, except those whose text was erased.
func (k Memories) over(ctx context.Context, tenant dag.Tenant, project belief.Space) (list []heldMemory, _ error) {
	spaces, err := k.spaces(ctx, tenant, project, history.Forever-1)
	if err != nil {
		return nil, err
	}
	const some = 1000
	for _, space := range spaces {
		for after, more := "", true; more; {
			names, err := k.journal().Names(ctx, tenant, space, after, some, history.Forever-1)
			if err != nil {
				return nil, err
			}
			now, err := k.journal().Now(ctx, tenant, names, history.Forever-1)
			if err != nil {
				return nil, err
			}
			for _, item := range now {
				if item.Current != nil && !item.Deprecated {
					continue
				}
				m, err := k.byItem(ctx, tenant, item.Item)
				if err != nil {
					return nil, err
				}
				if !m.revision.Erased {
					list = append(list, m)
				}
			}
			if more = len(names) == some; more {
				after = names[some-1].Name()
			}
		}
	}
	slices.SortStableFunc(list, func(a, b heldMemory) int { return cmp.Compare(b.seq(), a.seq()) })
	return list, nil
}

// History returns what a memory said, the oldest first.
func (k Memories) History(ctx context.Context, tenant dag.Tenant, in api.MemoryName) (out api.MemoryStates, _ error) {
	m, err := k.found(ctx, tenant, in)
	if err != nil {
		return out, err
	}
	out = api.MemoryStates{ID: m.ID, Kind: m.Kind, States: []api.MemoryState{}}
	if m.conflict != nil {
		out.States = append(out.States, api.MemoryState{Text: m.Text, By: m.By, At: m.Since, Proposed: true, Reason: m.conflict.Reason})
		return out, nil
	}
	kref, err := k.catalog().Kref(ctx, tenant, belief.Address{Item: m.revision.Item})
	if err != nil {
		return out, err
	}
	for _, r := range kref.Record.Revisions {
		one := api.MemoryState{Revision: r.Number, By: r.By, At: r.At, Proposed: !r.Vouched(), Reason: r.Reason, Erased: r.Erased, Holds: kref.Revision == r && !kref.Record.Deprecated && !r.Erased}
		if !r.Erased {
			one.Text = textOf(r)
		}
		out.States = append(out.States, one)
	}
	out.Ended, err = k.ended(ctx, tenant, m.revision, kref)
	return out, err
}

// Explain says why a memory holds: what it rests on and what it replaced. If it holds no longer, it says how it ended.
func (k Memories) Explain(ctx context.Context, tenant dag.Tenant, in api.MemoryName) (out api.MemoryReasons, _ error) {
	m, err := k.found(ctx, tenant, in)
	if err != nil {
		return out, err
	}
	out = api.MemoryReasons{Memory: m.Memory, Turns: []api.MemoryTurn{}, Replaced: []api.MemoryState{}}
	if out.Turns, err = k.turns(ctx, tenant, &m.Memory); err != nil || m.conflict != nil {
		if m.conflict != nil {
			out.Reason = m.conflict.Reason
		}
		return out, err
	}
	kref, err := k.catalog().Kref(ctx, tenant, belief.Address{Item: m.revision.Item})
	if err != nil {
		return out, err
	}
	states, err := k.History(ctx, tenant, api.MemoryName{ID: string(m.revision.Item)})
	if err != nil {
		return out, err
	}
	for _, s := range slices.Backward(states.States) {
		if s.Revision < m.revision.Number && (s.Text != m.Text || s.Erased) {
			out.Replaced = append(out.Replaced, s)
		}
	}
	out.Reason, out.Ended = m.revision.Reason, states.Ended
	out.Holds = out.Ended == nil && kref.Revision != nil && !kref.Revision.Erased
	waits, err := k.waiting(ctx, tenant, m.Project, history.Forever-1)
	for _, w := range waits {
		if slices.ContainsFunc(w.conflict.With, func(a belief.Address) bool { return a.Item == m.revision.Item }) {
			out.Against = append(out.Against, w.Memory)
		}
	}
	return out, err
}

// mostQuoted is how much of a turn is quoted, in bytes.
const mostQuoted = 400

// ended says how a memory ended; nil: it holds.
func (k Memories) ended(ctx context.Context, tenant dag.Tenant, r *journal.Revision, kref *Kref) (*api.MemoryEnd, error) {
	switch {
	case r.Erased:
		return &api.MemoryEnd{How: "erased"}, nil
	case kref.Revision != nil && !kref.Record.Deprecated:
		return nil, nil
	}
	for i := range r.Statements {
		l := r.Statements[i].Literal
		why, err := View(k).Why(ctx, tenant, api.WhyQuery{Space: r.Item.Space(), Subject: l.Subject, Predicate: l.Predicate, Object: l.Object, Not: l.Not})
		if err != nil {
			return nil, err
		}
		if n := len(why.Ended); n > 0 {
			e := &why.Ended[n-1]
			end := &api.MemoryEnd{At: e.At, By: e.By, Reason: e.Reason, How: "forgotten"}
			if e.Instead != nil {
				end.How, end.Instead = "contradicted", e.Instead.Text()
			}
			if id, ok := strings.CutPrefix(e.Reason, replacedBy); ok {
				end.How, end.Reason = "replaced", ""
				if by, err := k.named(ctx, tenant, id); err == nil {
					end.Instead = by.Text
				}
			}
			return end, nil
		}
	}
	return &api.MemoryEnd{At: r.At, How: "forgotten"}, nil
}
