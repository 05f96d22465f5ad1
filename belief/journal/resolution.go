package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// The kinds of the entries that rules need: how a conflict ended, and that a revision was used.
const (
	KindResolution history.Kind = "resolution/1"
	KindUse        history.Kind = "use/1"
)

// ErrNoConflict is wrapped if no conflict with a number waits in the space.
var ErrNoConflict = errors.New("no such conflict waits for a decision")

// The ways in which a conflict ends. Each removes the conflict from the queue.
const (
	Taken    = "taken"    // the base was revised with the proposal
	Dropped  = "dropped"  // the proposal was discarded
	Deferred = "deferred" // somebody will come back to it
)

// A Resolution ends a conflict.
type Resolution struct {
	Space    belief.Space
	Conflict dag.Seq
	How      string
	By       string
	Reason   string

	Seq dag.Seq
	At  dag.Time
}

type resolutionPublic struct {
	By       string  `json:"by,omitempty"`
	Conflict dag.Seq `json:"conflict"`
	How      string  `json:"how"`
	Reason   string  `json:"reason,omitempty"`
	Space    string  `json:"space"`
	Type     string  `json:"type"`
}

func (r *Resolution) entry() history.Entry {
	return history.Entry{Seq: r.Seq, Kind: KindResolution, At: r.At, Public: canonical(resolutionPublic{r.By, r.Conflict, r.How, r.Reason, string(r.Space), string(KindResolution)})}
}

// ReadResolution reads a resolution.
func ReadResolution(e *history.Entry) (*Resolution, error) {
	var p resolutionPublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	space, err := belief.ParseSpace(p.Space)
	if err != nil {
		return nil, err
	}
	r := &Resolution{Space: space, Conflict: p.Conflict, How: p.How, By: p.By, Reason: p.Reason, Seq: e.Seq, At: e.At}
	return r, r.check()
}

func (r *Resolution) check() error {
	if r.How != Taken && r.How != Dropped && r.How != Deferred {
		return fmt.Errorf("%w: the conflict should end as %.20q, want %s, %s or %s", belief.ErrForm, r.How, Taken, Dropped, Deferred)
	}
	if r.Conflict == 0 {
		return fmt.Errorf("%w: conflict 0, want a number above 0", belief.ErrForm)
	}
	if len(r.Reason) > MaxText {
		return fmt.Errorf("%w: conflict %d: the reason has %d bytes, at most %d", belief.ErrForm, r.Conflict, len(r.Reason), MaxText)
	}
	return nil
}

// A Use says that a revision was used, and whether the use succeeded. It names the revision that was current then.
type Use struct {
	Of      belief.Address
	Success bool
	By      string

	Seq dag.Seq
	At  dag.Time
}

type usePublic struct {
	By      string `json:"by,omitempty"`
	Of      string `json:"of"`
	Success bool   `json:"success"`
	Type    string `json:"type"`
}

func (u *Use) entry() history.Entry {
	return history.Entry{Seq: u.Seq, Kind: KindUse, At: u.At, Public: canonical(usePublic{u.By, u.Of.String(), u.Success, string(KindUse)})}
}

// ReadUse reads a use.
func ReadUse(e *history.Entry) (*Use, error) {
	var p usePublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	of, err := belief.ParseAddress(p.Of)
	if err == nil && (of.Revision == 0 || of.Artifact != "") {
		err = fmt.Errorf("%w: number %d is a use of %s, want the address of a revision", dag.ErrForm, e.Seq, p.Of)
	}
	return &Use{Of: of, Success: p.Success, By: p.By, Seq: e.Seq, At: e.At}, err
}

// A step is a change that adds entries to those of another change, in the same plan. before is the other change, or nil.
type step struct {
	before history.Change
	needs  func(k *history.State) history.Needs
	// add adds entries; f folds them. It is not called if before recorded nothing.
	add func(k *history.State, f *folding) error
}

func (s *step) Needs(k *history.State) (n history.Needs) {
	if s.before != nil {
		n = s.before.Needs(k)
	}
	if s.needs != nil {
		n = join(n, s.needs(k))
	}
	return n
}

// join returns the union of two needs.
func join(n, more history.Needs) history.Needs {
	n.Newest = append(n.Newest, more.Newest...)
	n.Ranges = append(n.Ranges, more.Ranges...)
	n.Entries = append(n.Entries, more.Entries...)
	n.Turns = append(n.Turns, more.Turns...)
	return n
}

func (s *step) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{}
	if s.before != nil {
		var err error
		if p, err = s.before.Plan(k); err != nil || len(p.Entries) == 0 {
			return p, err
		}
	}
	return p, s.add(k, newFolding(p))
}

// put adds the entry of a record and folds the record.
func (f *folding) put(k *history.State, r record, e history.Entry) error {
	f.plan.Entries = append(f.plan.Entries, e)
	return f.fold(k, nil, r)
}

// Resolve ends a conflict. With a request, the same change first decides the request; if it records nothing because it is refused or dry,
// the conflict goes on waiting.
func (b Changes) Resolve(ctx context.Context, tenant dag.Tenant, r Resolution, request *Request) (*Resolution, *Outcome, error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	s := &step{
		needs: func(k *history.State) (n history.Needs) {
			if k.Round == 0 {
				space := r.Space.Key()
				n.Ranges = []history.Range{{Index: indexConflicts, Prefix: space[:], AsOf: history.Forever - 1}}
			}
			return n
		},
		add: func(k *history.State, f *folding) error {
			waits := slices.ContainsFunc(termsOf(k, indexConflicts), func(t history.Term) bool { return t.Since == r.Conflict && t.Until == history.Forever })
			if !waits {
				return fmt.Errorf("%w: number %d in %s", ErrNoConflict, r.Conflict, r.Space)
			}
			r.Seq = f.plan.Head(k.Head) + 1
			return f.put(k, &r, r.entry())
		},
	}
	var o *operation
	if request != nil {
		if err := request.Check(); err != nil {
			return nil, nil, err
		}
		o = &operation{Request: *request}
		s.before = o
	}
	whole, err := b.write(ctx, tenant, s)
	if err != nil {
		return nil, nil, err
	}
	if o != nil {
		return &r, o.outcome.in(whole), nil
	}
	return &r, nil, nil
}

// Conflict returns a conflict that waits in a space as of a number.
func (b Elements) Conflict(ctx context.Context, tenant dag.Tenant, s belief.Space, seq, asOf dag.Seq) (*Conflict, error) {
	list, err := b.Conflicts(ctx, tenant, s, asOf)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.Seq == seq {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: number %d in %s", ErrNoConflict, seq, s)
}

// AddUse records a use of an existing revision.
func (b Changes) AddUse(ctx context.Context, tenant dag.Tenant, u Use) (*Use, error) {
	key := keyBytes(u.Of.Item.Key())
	s := &step{
		needs: func(k *history.State) (n history.Needs) {
			if k.Round == 0 {
				n.Ranges = []history.Range{{Index: indexRevisions, Prefix: key}}
			}
			return n
		},
		add: func(k *history.State, f *folding) error {
			for _, t := range termsOf(k, indexRevisions) {
				if p, err := readPlace(&t); err == nil && p.number == u.Of.Revision {
					u.Seq = k.Head + 1
					return f.put(k, &u, u.entry())
				}
			}
			return fmt.Errorf("%w: %s", ErrNoItem, u.Of)
		},
	}
	_, err := b.write(ctx, tenant, s)
	return &u, err
}

// Used returns the uses of items as of a number, in the order of the items and of time. The cost is one range for each item.
func (b Items) Used(ctx context.Context, tenant dag.Tenant, items []belief.Item, asOf dag.Seq) ([][]*Use, error) {
	ranges := make([]history.Range, len(items))
	for i, item := range items {
		ranges[i] = history.Range{Index: indexUses, Prefix: keyBytes(item.Key()), AsOf: asOf}
	}
	all := make([][]*Use, len(items))
	err := b.collect(ctx, tenant, ranges, func(i int, e *history.Entry) error {
		u, err := ReadUse(e)
		all[i] = append(all[i], u)
		return err
	})
	return all, err
}

// Links returns the links from revisions, or if incoming the links to addresses, as of a number.
func (b Items) Links(ctx context.Context, tenant dag.Tenant, of []string, incoming bool, asOf dag.Seq) ([][]*Link, error) {
	index := indexLinks
	if incoming {
		index = indexLinked
	}
	ranges := make([]history.Range, len(of))
	for i, address := range of {
		ranges[i] = history.Range{Index: index, Prefix: linkKey(address), AsOf: asOf}
	}
	all := make([][]*Link, len(of))
	err := b.collect(ctx, tenant, ranges, func(i int, e *history.Entry) error {
		l, err := ReadLink(e)
		all[i] = append(all[i], l)
		return err
	})
	return all, err
}

// collect calls fn with each entry that began a term of a range, and the index of the range.
func (b records) collect(ctx context.Context, tenant dag.Tenant, ranges []history.Range, fn func(i int, e *history.Entry) error) error {
	const most = 4096
	for from := 0; from < len(ranges); from += most {
		lists, err := b.Terms(ctx, tenant, ranges[from:min(from+most, len(ranges))])
		if err != nil {
			return err
		}
		var numbers []dag.Seq
		for _, list := range lists {
			for i := range list {
				numbers = append(numbers, list[i].Since)
			}
		}
		slices.Sort(numbers)
		entries, err := b.entriesAt(ctx, tenant, slices.Compact(numbers))
		if err != nil {
			return err
		}
		for n, list := range lists {
			for i := range list {
				e := entries[list[i].Since]
				if err := fn(from+n, &e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A Lowering gives an item a lower confidence, and may end its statements.
type Lowering struct {
	Item       belief.Item
	Number     int // of the believed revision; if another one is believed, the error is ErrChanged
	Confidence dag.PPM
	Invalid    bool // its statements end now
	Reason     string
	Evidence   []Link // links to the remaining evidence: type and target
}

// ErrChanged is wrapped if an item has another revision than the one that the caller read. The caller should read it again.
var ErrChanged = errors.New("the item was changed meanwhile")

// Lower records lower confidences in one change, and returns the number of the change's last entry. It refuses published revisions.
func (b Changes) Lower(ctx context.Context, tenant dag.Tenant, list []Lowering, by string, at dag.Time, salt dag.Salt) (whole dag.Seq, _ error) {
	if len(list) == 0 {
		return 0, nil
	}
	s := &step{
		needs: func(k *history.State) (n history.Needs) {
			switch k.Round {
			case 0:
				for i := range list {
					n.Newest = append(n.Newest, keysOf(list[i].Item, Published)...)
				}
			case 1:
				for i := range list {
					if seq, err := currentOf(k, list[i].Item); err == nil && seq != 0 {
						n.Entries = append(n.Entries, seq)
					}
				}
			case 2: // the turns that assertions may name
				x := &exploring{turns: map[dag.TurnID]bool{}}
				for i := range list {
					seq, _ := currentOf(k, list[i].Item)
					if e, ok := k.Entries[seq]; ok {
						if r, err := ReadRevision(&e); err == nil {
							x.know(&n, r)
						}
					}
				}
			}
			return n
		},
		add: func(k *history.State, f *folding) error {
			w := &writing{operation: &operation{Request: Request{Salt: salt}}}
			for i := range list {
				if err := f.lower(k, &list[i], by, at, w.salt()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	return b.write(ctx, tenant, s)
}

// lower records one lowering.
func (f *folding) lower(k *history.State, l *Lowering, by string, at dag.Time, salt dag.Salt) error {
	if err := f.know(k, l.Item, Published); err != nil {
		return err
	}
	s := f.items[l.Item]
	if s.live() == 0 || s.current.Number != l.Number {
		return fmt.Errorf("%w: %s, of which revision %d was read", ErrChanged, l.Item, l.Number)
	}
	if f.guards(s.current) {
		return fmt.Errorf("%w: revision %d of %s is published; first remove its tag published", belief.ErrProtected, l.Number, l.Item)
	}
	was := s.current
	r := *was
	r.Number, r.Supersedes, r.Current, r.By, r.Key = s.newest+1, was.Number, true, by, dag.Digest{}
	r.Confidence, r.Reason, r.Salt, r.Seq, r.At = min(was.Confidence, l.Confidence), l.Reason, salt, 0, at
	r.Statements = nil
	for _, stated := range was.Statements {
		if l.Invalid && stated.Span.From >= at {
			continue // it would end before it begins
		}
		if l.Invalid {
			stated.Span.Until = min(stated.Span.Until, at)
		}
		if stated.Rank.Event == 0 {
			stated.Rank.Event = was.Seq
		}
		r.Statements = append(r.Statements, stated)
	}
	if err := r.Check(); err != nil {
		return err
	}
	s.keep(&r)
	head, err := f.retract(s.ending(&r), salt, l.Reason, f.plan.Head(k.Head), at)
	if err != nil {
		return err
	}
	r.Seq = head + 1
	if err := f.put(k, &r, r.entry()); err != nil {
		return err
	}
	if _, err := f.assert(k, s, salt, r.Seq, at); err != nil {
		return err
	}
	for _, e := range l.Evidence {
		e.From, e.By, e.At, e.Seq = belief.Address{Item: l.Item, Revision: r.Number}, by, at, f.plan.Head(k.Head)+1
		if err := f.put(k, &e, e.entry()); err != nil {
			return err
		}
	}
	return nil
}

// useValue returns the value of the term of a use: the number of the revision.
func useValue(u *Use) []byte { return binary.BigEndian.AppendUint32(nil, uint32(u.Of.Revision)) }
