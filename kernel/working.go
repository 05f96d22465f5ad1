package kernel

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

// Working is what agents keep in mind while a session goes on. None of it is in the history until it is consolidated.
type Working struct{ *engine }

// Working returns the facet of working memory.
func (k *Kernel) Working() Working { return Working(*k) }

func (k *engine) working() Working { return Working{k} }

// keeper keeps working memory.
func (k *engine) keeper() working.Keeper {
	if k.config.WorkingInProcess != nil {
		return k.config.WorkingInProcess
	}
	return k.store
}

// ErrNoMessage is wrapped when a message is neither in a session nor in the history. It wraps store.ErrNotFound.
var ErrNoMessage = fmt.Errorf("there is no such message: %w", store.ErrNotFound)

// MaxMessageKey bounds the bytes of a message's key.
const MaxMessageKey = 256

// own returns the name of the caller's own session.
func own(ctx context.Context, session string) working.Name {
	return working.Name{Owner: access.CallerIn(ctx), Session: session}
}

// sessionOf returns the session that a query names, the caller's own if it names no owner. It returns an error if the session belongs to
// another caller, unless the role of the caller has the permission for that.
func sessionOf(ctx context.Context, q *api.WorkingQuery, otherwise access.Permission) (working.Name, error) {
	who := access.Asking(ctx)
	n := working.Name{Owner: cmp.Or(q.Owner, who.Caller()), Session: q.Session}
	if err := n.Check(); err != nil {
		return n, err
	}
	if n.Owner != who.Caller() && !who.Role.May(otherwise) {
		return n, fmt.Errorf("%w: session %q is of another caller; that takes the permission to %s", access.ErrMayNot, n.Session, otherwise)
	}
	return n, nil
}

// draft is the turn that a message may become.
func draftOf(m *working.Message, c dag.ConversationID) dag.Draft {
	return dag.Draft{ID: m.ID, Conversation: c, Role: m.Role, Author: m.Author, Content: m.Content, CreatedAt: m.At}
}

// mayAdmit returns an error if the caller may not admit one of the turns. A program that embeds the kernel and sets no caller may
// admit them all.
func (k Working) mayAdmit(ctx context.Context, drafts []dag.Draft) error {
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
// become. What drops out for them is counted.
func (k Working) Put(ctx context.Context, tenant dag.Tenant, in api.WorkingPut) (out api.WorkingOutcome, err error) {
	ctx, observed := k.observe(ctx, "put working memory")
	defer func() { observed(err) }()
	n, list := own(ctx, in.Session), in.Messages
	if err := n.Check(); err != nil {
		return out, err
	}
	now, err := k.now()
	if err != nil {
		return out, err
	}
	messages, err := k.messages(n, list, now)
	if err != nil {
		return out, err
	}
	drafts := make([]dag.Draft, len(messages))
	for i := range messages {
		drafts[i] = draftOf(&messages[i], n.Conversation())
	}
	if err := k.mayAdmit(ctx, drafts); err != nil {
		return out, err
	}
	if k.config.Screen != nil {
		if err := k.config.Screen(ctx, tenant, drafts); err != nil {
			return out, err
		}
	}
	for i := range drafts {
		if _, _, err := k.arrival(&drafts[i]); err != nil {
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
		placed, out.Dropped, err = b.Put(k.config.Working, now, fresh)
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

// messages gives messages their ids.
func (k Working) messages(n working.Name, list []api.NewMessage, now dag.Time) ([]working.Message, error) {
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
		if err := k.draw(m.ID[:]); err != nil {
			return nil, err
		}
		m.ID[6], m.ID[8] = m.ID[6]&0x0f|0x40, m.ID[8]&0x3f|0x80 // UUIDv4
	}
	return messages, nil
}

// keyed returns the ids of the messages that have keys: others cannot be turns yet.
func keyed(messages []working.Message, list []api.NewMessage) (ids []dag.TurnID) {
	for i := range list {
		if list[i].Key != "" {
			ids = append(ids, messages[i].ID)
		}
	}
	return ids
}

// turned returns those of the ids that are turns.
func (k Working) turned(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) (map[dag.TurnID]*store.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	records, err := k.store.Turns(ctx, tenant, store.IDs(ids))
	if err != nil {
		return nil, err
	}
	of := map[dag.TurnID]*store.Record{}
	for i := range records {
		of[records[i].Turn.ID] = &records[i]
	}
	return of, nil
}

// says reports working.ErrDiffers if a turn does not say what a message does, as far as its text is there.
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
		return fmt.Errorf("%w: it is turn %s now", working.ErrDiffers, m.ID)
	}
	return nil
}

// change changes a session. If the process has no more room, what has expired in it makes some.
func (k Working) change(ctx context.Context, tenant dag.Tenant, n working.Name, now dag.Time, erases bool, do func(*working.Buffer) error) (*working.Update, error) {
	u := &working.Update{Name: n, Limits: k.config.Working, Now: now, Erases: erases, Do: do}
	err := k.keeper().Write(ctx, tenant, u)
	if errors.Is(err, working.ErrFull) && k.config.WorkingInProcess != nil {
		if err := k.Sweep(ctx); err != nil {
			return nil, err
		}
		err = k.keeper().Write(ctx, tenant, u)
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Sweep takes away what has expired, of every tenant. Nothing that has expired is ever shown, swept or not.
func (k Working) Sweep(ctx context.Context) error {
	var tenants interface {
		Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error)
	} = k.store
	if k.config.WorkingInProcess != nil {
		tenants = k.config.WorkingInProcess
	}
	now, err := k.now()
	if err != nil {
		return err
	}
	const page = 100
	for after := dag.Tenant(""); ; {
		list, err := tenants.Tenants(ctx, after, page)
		if err != nil {
			return err
		}
		for _, tenant := range list {
			x, err := working.ReadIndex(ctx, k.keeper(), tenant)
			if err == nil && len(x.Live(now)) < len(x.Sessions) {
				err = k.keeper().Write(ctx, tenant, &working.Update{Limits: k.config.Working, Now: now})
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

// List lists the caller's sessions, or those of every caller for a role that may read what others bring.
func (k Working) List(ctx context.Context, tenant dag.Tenant, _ struct{}) (out api.WorkingSessions, err error) {
	now, err := k.now()
	if err != nil {
		return out, err
	}
	x, err := working.ReadIndex(ctx, k.keeper(), tenant)
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
func (k Working) Get(ctx context.Context, tenant dag.Tenant, q api.WorkingQuery) (out api.WorkingMessages, err error) {
	n, err := sessionOf(ctx, &q, access.Read)
	if err != nil {
		return out, err
	}
	now, err := k.now()
	if err != nil {
		return out, err
	}
	b, err := working.Read(ctx, k.keeper(), tenant, n)
	out = api.WorkingMessages{Session: n.Session, Owner: n.Owner, Messages: []api.WorkingMessage{}}
	for _, m := range b.Live(now) {
		out.Messages = append(out.Messages, api.WorkingMessage{ID: m.ID, Role: m.Role, Author: m.Author, Content: m.Content, At: m.At, ExpiresAt: m.Until})
	}
	return out, err
}

// Clear takes all messages of a session away, beyond recovery from the store's own files, and counts them.
func (k Working) Clear(ctx context.Context, tenant dag.Tenant, q api.WorkingQuery) (out api.WorkingCleared, err error) {
	ctx, observed := k.observe(ctx, "clear working memory")
	defer func() { observed(err) }()
	n, err := sessionOf(ctx, &q, access.Erase)
	if err != nil {
		return out, err
	}
	now, err := k.now()
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

// forget takes a message away that is the turn of an id: it was consolidated, and taking it away failed then.
func (k Working) forget(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, now dag.Time) error {
	n, ok, err := working.Holding(ctx, k.keeper(), tenant, turn)
	if err != nil || !ok {
		return err
	}
	_, err = k.change(ctx, tenant, n, now, true, func(b *working.Buffer) error {
		b.Take([]dag.TurnID{turn})
		return nil
	})
	return err
}
