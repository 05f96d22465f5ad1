// Package session answers the requests of package api about working memory: the messages that agents keep during a session. A message is not in the history until
// it is consolidated, which makes it a turn.
//
//	out, err := k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: messages})
//
// It uses the kernel through a [Kernel]; package working stores the messages.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/working"
)

// A Kernel has the methods of the kernel that the package needs. Errors are the kernel's.
type Kernel interface {
	Desk
	Admission
}

// A Desk has the methods that every operation needs.
type Desk interface {
	// Now returns the time of the kernel's clock.
	Now() (dag.Time, error)
	// Draw fills a slice with random bytes.
	Draw(b []byte) error
	// Observe is called before an operation; the function that it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
}

// Admission has the methods that make messages into turns.
type Admission interface {
	// ScreenTurns refuses turns whose texts may not be kept.
	ScreenTurns(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error
	// CheckTurn returns an error if a turn is malformed. It fills in the values that the draft leaves to the rules of package ingest.
	CheckTurn(d *dag.Draft) error
	// Turns returns the turns with the given ids, in any order. Turns that are not stored are left out.
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error)
	// Admit admits turns that the caller submits, all of them or none.
	Admit(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) (api.Receipt, error)
	// Head returns the number of a tenant's newest entry or turn.
	Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error)
}

// A Memory stores the sessions of tenants. It is a store, or the [working.Memory] of a process.
type Memory interface {
	working.Keeper
	// Tenants lists up to limit tenants above after, ascending.
	Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error)
}

// Sessions is the working memory of a kernel's callers, in sessions.
type Sessions struct {
	kernel Kernel
	memory Memory
	limits working.Limits
}

// New returns the Sessions of a kernel. It costs nothing.
func New(k Kernel, m Memory, l working.Limits) Sessions { return Sessions{k, m, l} }

// Operations lists the operations on sessions.
func (k Sessions) Operations() []api.Answer {
	return []api.Answer{api.PutWorking.By(k.Put), api.ListWorking.By(k.List), api.GetWorking.By(k.Get), api.ConsolidateWorking.By(k.Consolidate), api.ClearWorking.By(k.Clear)}
}

// ErrNoMessage is wrapped when a message is neither in a session nor in the history. It wraps store.ErrNotFound.
var ErrNoMessage = fmt.Errorf("there is no such message: %w", store.ErrNotFound)

// MaxMessageKey is the maximum length of a message's key, in bytes.
const MaxMessageKey = 256

// own returns the name of the caller's own session.
func own(ctx context.Context, session string) working.Name {
	return working.Name{Owner: access.CallerIn(ctx), Session: session}
}

// sessionOf returns the session that a query names; without an owner it is the caller's own. It returns an error if the session belongs to
// another caller, unless the caller's role has the given permission.
func sessionOf(ctx context.Context, q *api.WorkingQuery, otherwise access.Permission) (working.Name, error) {
	who := access.Asking(ctx)
	n := working.Name{Owner: cmp.Or(q.Owner, who.Caller()), Session: q.Session}
	if err := n.Check(); err != nil {
		return n, err
	}
	if n.Owner != who.Caller() && !who.Role.May(otherwise) {
		return n, fmt.Errorf("%w: session %q belongs to another caller; to use it, you need the permission to %s", access.ErrMayNot, n.Session, otherwise)
	}
	return n, nil
}

// draftOf returns the turn that a message may become.
func draftOf(m *working.Message, c dag.ConversationID) dag.Draft {
	d := dag.Draft{ID: m.ID, Conversation: c, Role: m.Role, Author: m.Author, Content: m.Content, CreatedAt: m.At}
	if m.Model {
		d.Channel = dag.ChannelAgent
	}
	return d
}

// mayAdmit returns an error if the caller may not admit one of the turns. A program that embeds the kernel and sets no caller may
// admit them all.
func (k Sessions) mayAdmit(ctx context.Context, drafts []dag.Draft) error {
	who := access.Asking(ctx)
	for i := range drafts {
		if who == (access.Identity{}) {
			break
		}
		if err := who.MayAdmit(&drafts[i]); err != nil {
			return fmt.Errorf("messages[%d]: %w: %w", i, access.ErrMayNot, err)
		}
	}
	return nil
}

// Put puts messages into the caller's own session, all of them or none. They are screened and checked as the turns that they may
// become. The outcome counts the older messages that are dropped to make room.
func (k Sessions) Put(ctx context.Context, tenant dag.Tenant, in api.WorkingPut) (out api.WorkingOutcome, err error) {
	ctx, observed := k.kernel.Observe(ctx, "put working memory")
	defer func() { observed(err) }()
	n, list := own(ctx, in.Session), in.Messages
	if err := n.Check(); err != nil {
		return out, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	messages, err := k.messages(n, list, now)
	if err != nil {
		return out, err
	}
	byModel := access.Asking(ctx).Channel() == dag.ChannelAgent
	for i := range messages {
		messages[i].Model = byModel
	}
	drafts := make([]dag.Draft, len(messages))
	for i := range messages {
		drafts[i] = draftOf(&messages[i], n.Conversation())
	}
	if err := k.mayAdmit(ctx, drafts); err != nil {
		return out, err
	}
	if err := k.kernel.ScreenTurns(ctx, tenant, drafts); err != nil {
		return out, err
	}
	for i := range drafts {
		if err := k.kernel.CheckTurn(&drafts[i]); err != nil {
			return out, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	done, err := k.turned(ctx, tenant, keyed(messages, list))
	if err != nil {
		return out, err
	}
	fresh := slices.DeleteFunc(slices.Clone(messages), func(m working.Message) bool { return done[m.ID] != nil })
	for i := range messages {
		if r := done[messages[i].ID]; r != nil {
			if err := says(r, &messages[i]); err != nil {
				return out, fmt.Errorf("messages[%d]: %w", i, err)
			}
		}
	}
	out = api.WorkingOutcome{Session: in.Session, Messages: []api.PutMessage{}}
	var placed []working.Placed
	u, err := k.change(ctx, tenant, n, now, false, func(b *working.Buffer) (err error) {
		placed, out.Dropped, err = b.Put(k.limits, now, fresh)
		return err
	})
	if err != nil {
		return out, err
	}
	for i := range messages {
		m := api.PutMessage{ID: messages[i].ID, Existing: true, Turn: done[messages[i].ID] != nil}
		if !m.Turn {
			m.ExpiresAt, m.Existing = placed[0].Until, placed[0].Existing
			placed = placed[1:]
		}
		out.Messages = append(out.Messages, m)
	}
	out.Expired, out.Held, out.Bytes = u.Expired, len(u.Buffer.Messages), u.Buffer.Size()
	return out, nil
}

// messages returns new messages with their ids. The id follows from the key; without a key it is random.
func (k Sessions) messages(n working.Name, list []api.NewMessage, now dag.Time) ([]working.Message, error) {
	messages := make([]working.Message, len(list))
	for i := range list {
		s := &list[i]
		m := &messages[i]
		*m = working.Message{Role: s.Role, Author: s.Author, Content: s.Content, At: now}
		switch {
		case len(s.Key) > MaxMessageKey:
			return nil, fmt.Errorf("messages[%d].key: %w: %d bytes, at most %d", i, dag.ErrForm, len(s.Key), MaxMessageKey)
		case s.Key != "":
			m.ID = n.ID(s.Key)
			continue
		}
		if err := k.kernel.Draw(m.ID[:]); err != nil {
			return nil, err
		}
		m.ID[6], m.ID[8] = m.ID[6]&0x0f|0x40, m.ID[8]&0x3f|0x80 // UUIDv4
	}
	return messages, nil
}

// keyed returns the ids of the messages that have keys. Messages without a key have new ids, so they cannot be turns yet.
func keyed(messages []working.Message, list []api.NewMessage) (ids []dag.TurnID) {
	for i := range list {
		if list[i].Key != "" {
			ids = append(ids, messages[i].ID)
		}
	}
	return ids
}

// turned returns the turns among the ids.
func (k Sessions) turned(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) (map[dag.TurnID]*store.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	records, err := k.kernel.Turns(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	of := map[dag.TurnID]*store.Record{}
	for i := range records {
		of[records[i].Turn.ID] = &records[i]
	}
	return of, nil
}

// says returns an error that wraps working.ErrDiffers if a turn differs from a message in role, author or content. Without the turn's text it
// compares the role alone.
func says(r *store.Record, m *working.Message) error {
	differs := r.Turn.Role != m.Role
	if r.Body != nil {
		body, err := slice.ParseBody(r.Body)
		if err != nil {
			return fmt.Errorf("turn %s: %w: %w", r.Turn.ID, store.ErrDamaged, err)
		}
		differs = differs || body.Author != m.Author || body.Content != m.Content
	}
	if differs {
		return fmt.Errorf("%w: that message is now turn %s", working.ErrDiffers, m.ID)
	}
	return nil
}

// change changes a session with do. If the memory is full and the tenants of a process share it, change removes expired messages and tries again.
func (k Sessions) change(ctx context.Context, tenant dag.Tenant, n working.Name, now dag.Time, erases bool, do func(*working.Buffer) error) (*working.Update, error) {
	u := &working.Update{Name: n, Limits: k.limits, Now: now, Erases: erases, Do: do}
	err := k.memory.Write(ctx, tenant, u)
	if _, shared := k.memory.(*working.Memory); shared && errors.Is(err, working.ErrFull) {
		if err := k.Sweep(ctx); err != nil {
			return nil, err
		}
		err = k.memory.Write(ctx, tenant, u)
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Sweep removes the expired messages of every tenant. Expired messages are never shown, even before they are swept.
func (k Sessions) Sweep(ctx context.Context) error {
	now, err := k.kernel.Now()
	if err != nil {
		return err
	}
	const page = 100
	for after := dag.Tenant(""); ; {
		list, err := k.memory.Tenants(ctx, after, page)
		if err != nil {
			return err
		}
		for _, tenant := range list {
			x, err := working.ReadIndex(ctx, k.memory, tenant)
			if err == nil && len(x.Live(now)) < len(x.Sessions) {
				err = k.memory.Write(ctx, tenant, &working.Update{Limits: k.limits, Now: now})
			}
			if err != nil {
				return err
			}
		}
		if len(list) < page {
			return nil
		}
		after = list[len(list)-1]
	}
}

// List lists the caller's sessions. For a role with the permission to read, it lists the sessions of every caller.
func (k Sessions) List(ctx context.Context, tenant dag.Tenant, _ struct{}) (out api.WorkingSessions, err error) {
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	x, err := working.ReadIndex(ctx, k.memory, tenant)
	if err != nil {
		return out, err
	}
	who := access.Asking(ctx)
	out.Sessions = []api.WorkingSession{}
	for _, e := range x.Live(now) {
		if e.Owner == who.Caller() || who.Role.May(access.Read) {
			out.Sessions = append(out.Sessions, api.WorkingSession{Session: e.Session, Owner: e.Owner, Messages: e.Messages, Bytes: e.Bytes, ExpiresAt: e.Until})
		}
	}
	return out, nil
}

// Get lists the messages of a session, the oldest first.
func (k Sessions) Get(ctx context.Context, tenant dag.Tenant, q api.WorkingQuery) (out api.WorkingMessages, err error) {
	n, err := sessionOf(ctx, &q, access.Read)
	if err != nil {
		return out, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	b, err := working.Read(ctx, k.memory, tenant, n)
	out = api.WorkingMessages{Session: n.Session, Owner: n.Owner, Messages: []api.WorkingMessage{}}
	for _, m := range b.Live(now) {
		out.Messages = append(out.Messages, api.WorkingMessage{ID: m.ID, Role: m.Role, Author: m.Author, Content: m.Content, At: m.At, ExpiresAt: m.Until})
	}
	return out, err
}

// Clear removes all messages of a session, beyond recovery from the store's own files, and counts them.
func (k Sessions) Clear(ctx context.Context, tenant dag.Tenant, q api.WorkingQuery) (out api.WorkingCleared, err error) {
	ctx, observed := k.kernel.Observe(ctx, "clear working memory")
	defer func() { observed(err) }()
	n, err := sessionOf(ctx, &q, access.Erase)
	if err != nil {
		return out, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	out = api.WorkingCleared{Session: n.Session, Owner: n.Owner}
	_, err = k.change(ctx, tenant, n, now, true, func(b *working.Buffer) error {
		out.Cleared = len(b.Messages)
		b.Messages, b.Last, b.Until = nil, nil, 0
		return nil
	})
	return out, err
}

// Forget removes the message with the id of a turn, if a session still contains it. That happens if the message was consolidated and removing it failed.
func (k Sessions) Forget(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, now dag.Time) error {
	n, ok, err := working.Holding(ctx, k.memory, tenant, turn)
	if err != nil || !ok {
		return err
	}
	_, err = k.change(ctx, tenant, n, now, true, func(b *working.Buffer) error {
		b.Take([]dag.TurnID{turn})
		return nil
	})
	return err
}
