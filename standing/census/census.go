// Package census is the room of standings: whose words count in a kernel's store, why, and what another policy would change, in the
// forms of package api.
//
//	found, err := k.Standings().List(ctx, tenant, api.StandingsQuery{Turn: &id})
//
// The kernel implements [Kernel].
package census

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
)

// A Kernel has the methods of the kernel that the room needs. The room returns the kernel's errors.
type Kernel interface {
	Desk
	Turns
}

// A Desk has the methods that every request needs.
type Desk interface {
	// Observe is called before an operation; the function it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
	// Now returns the time.
	Now() (dag.Time, error)
	// AsOf returns the number of the view as of a given number; 0 is now.
	AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (dag.Seq, error)
	// Policy returns a policy of the tenant.
	Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error)
	// Changed is called after a change of a tenant's history.
	Changed(tenant dag.Tenant)
}

// Turns has the methods that read turns, and who brought them.
type Turns interface {
	// Settings returns the record of the policies in force.
	Settings() settings.Base
	// Names returns the things by which the tenant's turns name authors and credentials.
	Names(ctx context.Context, tenant dag.Tenant) (standing.Namer, error)
	// Turns returns the turns with the given ids in any order. It skips ids without a turn.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Scan calls fn with each turn above a number by ascending number, or with those of one conversation.
	Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error
}

// Standings are the standings of a kernel's turns.
type Standings struct{ kernel Kernel }

// New returns the room of a kernel. The call is cheap.
func New(k Kernel) Standings { return Standings{k} }

// Operations lists the operations of the facet.
func (k Standings) Operations() []api.Answer {
	return []api.Answer{api.GetStanding.By(k.InForce), api.ListStandings.By(k.List), api.SetStanding.By(k.Set)}
}

// InForce returns the standing policy in force as of a number, with every setting up to there.
func (k Standings) InForce(ctx context.Context, tenant dag.Tenant, in api.StandingQuery) (w api.Standing, err error) {
	ctx, observed := k.kernel.Observe(ctx, "get_standing")
	defer func() { observed(err) }()
	r, err := k.rulings(ctx, tenant, in.AsOf)
	if err != nil {
		return w, err
	}
	last := r.inForce()
	return api.Standing{PolicyID: last.ID(), Hash: last.Hash(), AsOf: r.asOf, Settings: r.set}, nil
}

// OfRequest returns the ruling about what the caller in a context asks for.
func (k Standings) OfRequest(ctx context.Context, tenant dag.Tenant) (of standing.Ruling, err error) {
	ctx, observed := k.kernel.Observe(ctx, "standing_of_request")
	defer func() { observed(err) }()
	inForce, err := k.Decider(ctx, tenant)
	if err != nil {
		return of, err
	}
	return inForce.OfRequest(access.Asking(ctx)), nil
}

// Decider returns the decider of the policy in force. It reads the newest setting alone.
func (k Standings) Decider(ctx context.Context, tenant dag.Tenant) (*standing.Decider, error) {
	newest, err := k.kernel.Settings().Newest(ctx, tenant)
	if err != nil {
		return nil, err
	}
	names, err := k.kernel.Names(ctx, tenant)
	if err != nil {
		return nil, err
	}
	var recorded []settings.Setting
	if newest.Seq > 0 {
		recorded = append(recorded, newest)
	}
	course, err := k.course(ctx, tenant, recorded, names)
	if err != nil {
		return nil, err
	}
	return course[len(course)-1].Decider, nil
}

// rulings are the policies of a tenant as of a number.
type rulings struct {
	asOf   dag.Seq
	course standing.Course
	set    []api.StandingSetting // of course, without its first
	newest settings.Setting      // the last of course; zero: only its first
	names  standing.Namer
}

// inForce returns the policy in force.
func (r *rulings) inForce() policy.Registered { return r.course[len(r.course)-1].Policy }

// rulings reads the policies that were in force up to a number; 0 is now.
func (k Standings) rulings(ctx context.Context, tenant dag.Tenant, given dag.Seq) (r rulings, err error) {
	if r.asOf, err = k.kernel.AsOf(ctx, tenant, given); err != nil {
		return r, err
	}
	all, err := k.kernel.Settings().All(ctx, tenant)
	if err != nil {
		return r, err
	}
	if r.names, err = k.kernel.Names(ctx, tenant); err != nil {
		return r, err
	}
	r.set = []api.StandingSetting{}
	upTo := 0
	for ; upTo < len(all) && all[upTo].Seq <= r.asOf; upTo++ {
		r.set, r.newest = append(r.set, settingOf(&all[upTo])), all[upTo]
	}
	r.course, err = k.course(ctx, tenant, all[:upTo], r.names)
	return r, err
}

// course returns the course of recorded settings.
func (k Standings) course(ctx context.Context, tenant dag.Tenant, all []settings.Setting, names standing.Namer) (standing.Course, error) {
	return settings.CourseOf(all, func(id policy.ID) (policy.Registered, error) { return k.kernel.Policy(ctx, tenant, id) }, names)
}

// add adds a setting of a policy.
func (k Standings) add(ctx context.Context, tenant dag.Tenant, r *rulings, id policy.ID, after dag.Seq, retroactive bool) error {
	p, err := k.kernel.Policy(ctx, tenant, id)
	if err != nil {
		return err
	}
	set, err := standing.Decides(p, r.names, after, retroactive)
	if err == nil {
		r.course = append(r.course, set)
	}
	return err
}

func settingOf(s *settings.Setting) api.StandingSetting {
	return api.StandingSetting{Seq: s.Seq, PolicyID: s.Policy, Hash: s.Hash, Retroactive: s.Retroactive, At: s.At, By: s.By}
}

// factsOf returns the facts about a stored turn from which its standing follows.
func factsOf(r *store.Record) standing.Turn {
	return standing.TurnOf(r.Seq, &r.Turn, &r.Marks, len(r.Parents))
}

// authorOf returns the author of a stored turn, or "" if its text is gone.
func authorOf(r *store.Record) string {
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return ""
	}
	return body.Author
}

// List returns the standing of one turn, or of a page of a conversation's turns, with why.
func (k Standings) List(ctx context.Context, tenant dag.Tenant, in api.StandingsQuery) (w api.Standings, err error) {
	ctx, observed := k.kernel.Observe(ctx, "list_standings")
	defer func() { observed(err) }()
	if (in.Turn == nil) == (in.Conversation == nil) {
		return w, api.Faultf(api.CodeInvalid, "query parameter turn", "name either a turn or a conversation")
	}
	after, asOf, err := in.InView(in.AsOf)
	if err != nil {
		return w, err
	}
	conversation, one := in.Conversation, (*store.Record)(nil)
	if in.Turn != nil {
		records, err := k.kernel.Turns(ctx, tenant, []dag.TurnID{*in.Turn})
		if err == nil && len(records) == 0 {
			err = fmt.Errorf("turn %s: %w", in.Turn, store.ErrNotFound)
		}
		if err != nil {
			return w, err
		}
		one = &records[0]
		conversation = &one.Turn.Conversation
	}
	r, err := k.rulings(ctx, tenant, asOf)
	if err != nil {
		return w, err
	}
	if one != nil && one.Seq > r.asOf {
		return w, fmt.Errorf("turn %s, as of %d: %w", in.Turn, r.asOf, store.ErrNotFound)
	}
	var people standing.Conversation
	turns := 0
	if err := k.between(ctx, tenant, 0, r.asOf, conversation, func(_ *store.Record, t *standing.Turn) bool {
		people.Add(t)
		turns++
		return true
	}); err != nil {
		return w, err
	}
	if turns == 0 {
		return w, fmt.Errorf("conversation %s: %w", conversation, store.ErrNotFound)
	}
	w = api.Standings{Turns: []api.TurnStanding{}, AsOf: r.asOf}
	add := func(stored *store.Record, t *standing.Turn) bool {
		if s := r.of(stored, t, &people); in.Only == "" || in.Only == s.Standing {
			w.Turns = append(w.Turns, s)
		}
		return len(w.Turns) <= in.Size()
	}
	if one != nil {
		if t := factsOf(one); one.Seq > after {
			add(one, &t)
		}
		return w, nil
	}
	err = k.between(ctx, tenant, after, r.asOf, conversation, add)
	if n := in.Size(); len(w.Turns) > n {
		w.Turns = w.Turns[:n]
		w.Next = api.NextInView(w.Turns[n-1].Seq, r.asOf)
	}
	return w, err
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// between calls fn with the turns above a number and up to another, all or those of a conversation, until it returns false.
func (k Standings) between(ctx context.Context, tenant dag.Tenant, after, last dag.Seq, conversation *dag.ConversationID, fn func(*store.Record, *standing.Turn) bool) error {
	err := k.kernel.Scan(ctx, tenant, after, conversation, func(r *store.Record) error {
		if r.Seq > last {
			return errEnough
		}
		if t := factsOf(r); !fn(r, &t) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (r *rulings) of(stored *store.Record, t *standing.Turn, in *standing.Conversation) api.TurnStanding {
	ruling, at := r.course.Of(stored.Seq, t, in)
	return api.TurnStanding{
		Turn: stored.Turn.ID, Conversation: stored.Turn.Conversation, Seq: stored.Seq, Standing: ruling.Standing.String(), Reason: ruling.Reason.String(),
		PolicyID: r.course[at].Policy.ID(), Rule: ruling.Rule, Role: t.Role.String(), Author: authorOf(stored), Voice: t.Voice.String(), Channel: t.Origin.Channel.String(),
		Grant: t.Origin.Grant.String(), Key: stored.Key,
	}
}

// mostMoved is the maximum number of turns in each of the two lists of a change: raised or held, and lowered.
const mostMoved = 20

// Set puts a standing policy in force and returns what it changes; with in.DryRun it changes nothing. The error for a caller who may not
// govern is access.ErrMayNot, and settings.ErrChanged for one who has not seen the newest setting.
func (k Standings) Set(ctx context.Context, tenant dag.Tenant, in api.NewStanding) (w api.StandingChange, err error) {
	ctx, observed := k.kernel.Observe(ctx, "set_standing")
	defer func() { observed(err) }()
	who := access.Asking(ctx)
	if !who.Governs() {
		return w, fmt.Errorf("%w: only a person who may govern sets whose words count, and no model for them", access.ErrMayNot)
	}
	for {
		w, err = k.set(ctx, tenant, &in, who)
		if in.Seen != nil || !errors.Is(err, settings.ErrChanged) { // else another setting was made since the turns were compared
			return w, err
		}
	}
}

// set is Set for a caller who may govern.
func (k Standings) set(ctx context.Context, tenant dag.Tenant, in *api.NewStanding, who access.Identity) (w api.StandingChange, err error) {
	before, err := k.rulings(ctx, tenant, 0)
	if err != nil {
		return w, err
	}
	if in.Seen != nil {
		if err := settings.Follows(&before.newest, *in.Seen); err != nil {
			return w, err
		}
	}
	after := before
	if err := k.add(ctx, tenant, &after, in.PolicyID, before.asOf, in.Retroactive); err != nil {
		return w, err
	}
	set := after.inForce()
	w = api.StandingChange{Before: before.inForce().ID(), Since: before.newest.Seq, PolicyID: set.ID(), DryRun: in.DryRun}
	w.Already = w.Before == w.PolicyID && !in.Retroactive
	if err := k.compare(ctx, tenant, &before, &after, in.Retroactive, &w); err != nil || in.DryRun || w.Already {
		return w, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return w, err
	}
	recorded, err := k.kernel.Settings().Put(ctx, tenant, before.newest.Seq, settings.Setting{Policy: set.ID(), Hash: set.Hash(), Retroactive: in.Retroactive, At: now, By: who.Caller()})
	if err != nil {
		return api.StandingChange{}, err
	}
	k.kernel.Changed(tenant)
	of := settingOf(&recorded)
	w.Set = &of
	return w, nil
}

// compare counts the turns whose standings differ. It reads every turn of the tenant twice: who takes part in a conversation is known at its end.
func (k Standings) compare(ctx context.Context, tenant dag.Tenant, before, after *rulings, retroactive bool, w *api.StandingChange) error {
	people := map[dag.ConversationID]*standing.Conversation{}
	if err := k.between(ctx, tenant, 0, before.asOf, nil, func(_ *store.Record, t *standing.Turn) bool {
		in := people[t.Conversation]
		if in == nil {
			in = &standing.Conversation{}
			people[t.Conversation] = in
		}
		in.Add(t)
		return true
	}); err != nil {
		return err
	}
	last := &after.course[len(after.course)-1]
	raised, lowered := []api.MovedStanding{}, []api.MovedStanding{}
	err := k.between(ctx, tenant, 0, before.asOf, nil, func(r *store.Record, t *standing.Turn) bool {
		in := people[t.Conversation]
		w.Turns++
		had, _ := before.course.Of(r.Seq, t, in)
		has, _ := after.course.Of(r.Seq, t, in)
		would := has
		if !retroactive {
			would = last.Decider.Of(t, in)
		}
		moved := api.MovedStanding{Turn: r.Turn.ID, Before: had.Standing.String(), After: would.Standing.String()}
		list := &raised
		switch {
		case has.Standing > had.Standing:
			w.Raised++
		case has.Standing < had.Standing:
			w.Lowered++
			list = &lowered
		case would.Standing > had.Standing:
			w.Held++
			moved.Held = true
		default:
			return true
		}
		moved.Author = authorOf(r)
		if *list = append(*list, moved); len(*list) > mostMoved {
			*list = (*list)[1:]
		}
		return true
	})
	w.Moved = append(raised, lowered...)
	return err
}
