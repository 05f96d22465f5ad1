package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// MaxReason is the maximum length of the reason for an erasure, in bytes.
const MaxReason = 1024

func checkReason(reason string) error {
	if reason == "" || len(reason) > MaxReason || !utf8.ValidString(reason) {
		return fmt.Errorf("%w: an erasure needs a reason of 1 to %d bytes of UTF-8, got %d", dag.ErrForm, MaxReason, len(reason))
	}
	return nil
}

// Erasures erases turns, and lists their erasures.
type Erasures struct{ *engine }

// Operations lists the operations on erasures.
func (k Erasures) Operations() []api.Answer {
	return []api.Answer{api.EraseTurn.By(k.eraseTurn), api.ListErasures.By(k.listErasures)}
}

// Erase deletes a turn's text and salt for good, with the facts that were learned from it, and
// records when, why and by which caller (see access.As).
// Everything else of the turn remains: old slices still verify and replay, and say
// that the text is gone. Erase also deletes the tasks of contexts that have the turn's words, whether or not the contexts showed the turn: the
// task from a hook is a prompt that has not become a turn yet. Erasing a turn again returns the first erasure, and completes work
// that the store could not finish then.
func (k Erasures) Erase(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, reason string) (_ ErasedTurn, err error) {
	ctx, observed := k.observe(ctx, "erase")
	defer func() { observed(err) }()
	if err := checkReason(reason); err != nil {
		return ErasedTurn{}, err
	}
	now, err := k.now()
	if err != nil {
		return ErasedTurn{}, err
	}
	if err := k.working().Forget(ctx, tenant, turn, now); err != nil {
		return ErasedTurn{}, err
	}
	text, err := k.contentOf(ctx, tenant, turn)
	if err != nil {
		return ErasedTurn{}, err
	}
	out := ErasedTurn{}
	tasks := func() error {
		gone, err := k.eraseTasks(ctx, tenant, text, reason, now)
		out.Tasks = append(out.Tasks, gone...)
		return err
	}
	if err := tasks(); err != nil { // first, since the words are unknown once the turn is erased
		return ErasedTurn{}, err
	}
	with, unguarded, err := k.recognition().Erasing(ctx, tenant, turn, now)
	if err != nil {
		return ErasedTurn{}, err
	}
	out.Unguarded = unguarded
	e, err := k.records.erasures.Erase(ctx, tenant, erasures.Erasure{Turn: turn, Reason: reason, At: now, By: access.CallerIn(ctx)}, append(kinds.Erasing(turn, now), with...)...)
	c := k.kept.Load()
	kept := c.tenants.Of(tenant)
	kept.Texts.Forget(turn)
	kept.Facts.Forget() // even on error: the erasure may be stored all the same
	c.beliefs.Forget()
	c.atlases.Forget(tenant, turn, err != nil)
	k.changes.tell(tenant)
	k.indexing.Dropped(tenant, false)
	if err != nil {
		return ErasedTurn{}, err
	}
	out.Erasure = e
	if err := tasks(); err != nil { // again, for tasks that were recorded meanwhile
		return ErasedTurn{}, err
	}
	out.AsOf, err = k.whole(ctx, tenant, e.Seq)
	return out, err
}

// whole returns the number of the last entry of the change that an entry belongs to.
func (k Erasures) whole(ctx context.Context, tenant dag.Tenant, of dag.Seq) (dag.Seq, error) {
	entries, err := k.store.Entries(ctx, tenant, history.Page{At: []dag.Seq{of}})
	if err != nil || len(entries) != 1 {
		return of, err
	}
	return entries[0].Whole(), nil
}

// An ErasedTurn is the erasure of a turn's text, with the tasks of contexts that were erased because they had its words.
type ErasedTurn struct {
	erasures.Erasure
	AsOf  dag.Seq // the number of the last entry of the erasure's change
	Tasks []slice.SliceID

	// Unguarded is the reason why copies of the text that arrive under other ids are not held back; "" if they are.
	Unguarded string
}

// eraseTasks erases the tasks that have words of a text, and returns the ids of their contexts, without those whose task was erased before.
func (k Erasures) eraseTasks(ctx context.Context, tenant dag.Tenant, text, reason string, at dag.Time) (erased []slice.SliceID, err error) {
	c := k.kept.Load()
	found, err := c.tasks.With(ctx, tenant, text)
	if err != nil {
		return nil, err
	}
	for _, id := range found {
		e, err := k.records.bundles.EraseTask(ctx, tenant, issued.TaskErasure{Context: id, Reason: reason, At: at, By: access.CallerIn(ctx)})
		c.recorded.Purge()
		if err != nil {
			return erased, err
		}
		c.tasks.Forget(tenant, id)
		if e.At == at && e.Reason == reason {
			erased = append(erased, id)
		}
	}
	return erased, nil
}

// contentOf returns the text of a turn, or "" if it has none or a damaged one.
func (k Erasures) contentOf(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) (string, error) {
	records, err := k.store.Store.Turns(ctx, tenant, store.IDs{turn})
	if err != nil || len(records) == 0 || records[0].Body == nil {
		return "", err
	}
	body, err := slice.ParseBody(records[0].Body)
	if err != nil {
		return "", nil // a damaged text is erased like any other
	}
	return body.Content, nil
}

// Events returns up to limit erasures of turns with numbers above after, by ascending number.
func (k Erasures) Events(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]erasures.Erasure, error) {
	return k.records.erasures.After(ctx, tenant, after, limit)
}

// Erasure returns the record of a turn's erasure, or nil if its text was not erased.
func (k Erasures) Erasure(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) (*erasures.Erasure, error) {
	if _, err := (Reader{k.store}).Get(ctx, tenant, turn); err != nil {
		return nil, err
	}
	at, err := k.records.erasures.Among(ctx, tenant, []dag.TurnID{turn})
	if err != nil || at[turn] == 0 {
		return nil, err
	}
	list, err := k.records.erasures.After(ctx, tenant, at[turn]-1, 1)
	if err != nil || len(list) != 1 || list[0].Turn != turn {
		return nil, errors.Join(err, fmt.Errorf("%w: erasure %d of turn %s, tenant %s, is not there", store.ErrDamaged, at[turn], turn, tenant))
	}
	return &list[0], nil
}

func (k Erasures) eraseTurn(ctx context.Context, tenant dag.Tenant, in api.Erasure) (w api.ErasedTurn, err error) {
	reason, err := api.ReasonOf(in.Reason, in.Body)
	if err != nil {
		return w, err
	}
	event, err := k.Erase(ctx, tenant, in.ID, reason)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return w, &api.Fault{Code: api.CodeNotFound, Err: fmt.Errorf("turn %s: %w", in.ID, store.ErrNotFound)}
	case err != nil:
		return w, err
	case event.Seq == 0:
		return w, api.Faultf(api.CodeNotFound, "", "turn %s came without text, so there is none to erase", in.ID)
	}
	w.Event = ErasureEvent(&event.Erasure)
	w.AsOf = event.AsOf
	w.Unguarded, w.Tasks = event.Unguarded, event.Tasks
	return w, nil
}

// listErasures lists a page of the erasures of turns, the oldest first; with in.Turn, only the erasure of that turn.
func (k Erasures) listErasures(ctx context.Context, tenant dag.Tenant, in api.ErasureQuery) (w api.Erasures, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	limit := in.Size()
	var list []erasures.Erasure
	if in.Turn == nil {
		list, err = k.Events(ctx, tenant, dag.Seq(after), limit+1)
	} else {
		var one *erasures.Erasure
		if one, err = k.Erasure(ctx, tenant, *in.Turn); one != nil && uint64(one.Seq) > after {
			list = append(list, *one)
		}
	}
	if err != nil {
		return w, err
	}
	list, w.Next = api.Page(list, limit, func(e *erasures.Erasure) uint64 { return uint64(e.Seq) })
	w.Erasures = make([]api.Event, len(list))
	for i := range list {
		w.Erasures[i] = ErasureEvent(&list[i])
	}
	return w, nil
}

// ErasureEvent returns the event of an erasure.
func ErasureEvent(e *erasures.Erasure) api.Event {
	return api.Event{Seq: e.Seq, Kind: api.EventErasure, Turn: e.Turn, Reason: e.Reason, At: e.At, By: e.By}
}

// EraseTask deletes the words of a context's task for good, with the rest of its request, from every record of the context,
// and records when, why and by which caller (see access.As). The rest of the record remains: a bundle that was handed out still verifies, and a replay
// of the record says that the task was erased. Erasing a task again returns the first erasure. If the task was erased together with a turn that
// the context showed, it has no erasure of its own, and the error wraps ErrTaskGone.
func (k Contexts) EraseTask(ctx context.Context, tenant dag.Tenant, id slice.SliceID, reason string) (_ issued.TaskErasure, err error) {
	ctx, observed := k.observe(ctx, "erase")
	defer func() { observed(err) }()
	if err := checkReason(reason); err != nil {
		return issued.TaskErasure{}, err
	}
	if records, err := k.slices().Issued(ctx, tenant, id); err != nil {
		return issued.TaskErasure{}, err
	} else if !records[0].OfContext() {
		return issued.TaskErasure{}, fmt.Errorf("slice %s of tenant %s has no task: %w", id, tenant, ErrKind)
	}
	now, err := k.now()
	if err != nil {
		return issued.TaskErasure{}, err
	}
	e, err := k.records.bundles.EraseTask(ctx, tenant, issued.TaskErasure{Context: id, Reason: reason, At: now, By: access.CallerIn(ctx)})
	k.kept.Load().recorded.Purge() // even on error: the cached records have the words
	k.changes.tell(tenant)
	if err == nil && e.Seq == 0 {
		err = fmt.Errorf("context %s: %w: the task went with a turn that the context showed", id, ErrTaskGone)
	}
	if err != nil {
		return issued.TaskErasure{}, err
	}
	return e, nil
}

// ErrTaskGone is wrapped by EraseTask when the task is gone already and has no erasure on record. It wraps store.ErrNotFound.
var ErrTaskGone = fmt.Errorf("there is no task to erase: %w", store.ErrNotFound)

// TaskErasures returns up to limit erasures of tasks with numbers above after, by ascending number.
func (k Contexts) TaskErasures(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]issued.TaskErasure, error) {
	return k.records.bundles.TaskErasures(ctx, tenant, after, limit)
}

func (k Contexts) eraseTask(ctx context.Context, tenant dag.Tenant, in api.TaskErasing) (w api.TaskErased, err error) {
	reason, err := api.ReasonOf(in.Reason, in.Body)
	if err != nil {
		return w, err
	}
	e, err := k.EraseTask(ctx, tenant, slice.SliceID(strings.ToLower(string(in.SliceID))), reason)
	if err != nil {
		return w, err
	}
	w = TaskErased(&e)
	w.AsOf = w.Seq // it is a change of its own
	return w, nil
}

// TaskErased returns the service's answer for an erased task.
func TaskErased(e *issued.TaskErasure) api.TaskErased {
	return api.TaskErased{Seq: e.Seq, Context: e.Context, Reason: e.Reason, At: e.At, By: e.By}
}

// taskGone returns a text that says when and why the task of a context was erased.
func taskGone(e *issued.TaskErasure) string {
	return fmt.Sprintf("its task was erased on %s for the reason %q", e.At, e.Reason)
}
