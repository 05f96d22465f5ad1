package issued

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/slice"
)

// TaskErased is the kind of the entries, of what is known, which say that the task of a context was erased.
const TaskErased history.Kind = "task-erased/1"

const (
	// indexTask leads from a context's id, its eight bytes, to the entries that erased its task.
	indexTask history.Index = 122
	// indexTaskNumber leads from the number of such an entry, eight bytes, big-endian, to it.
	indexTaskNumber history.Index = 123
)

// A TaskErasure says that the words of a context's task were erased.
type TaskErasure struct {
	Seq     dag.Seq       // its number in what is known; set by EraseTask
	Context slice.SliceID // of every record up to Size
	Size    dag.Seq       // how many entries the record had; a context that is handed out later has its task
	Reason  string        // UTF-8
	At      dag.Time
	By      string // who asked for it, as access.CheckCaller has it; "" if that was not recorded
}

// Check reports the first thing about an erasure that is not in its form, as dag.ErrForm.
func (e *TaskErasure) Check() error {
	if _, err := sliceBytes(e.Context); err != nil {
		return fmt.Errorf("%w: the task of context %.80q: %w", dag.ErrForm, e.Context, err)
	}
	if !e.At.Valid() || !utf8.ValidString(e.Reason) || e.Size > dag.MaxSeq {
		return fmt.Errorf("%w: an erasure of a task at %d, of a record of %d, for the reason %.40q", dag.ErrForm, e.At, e.Size, e.Reason)
	}
	if e.By != "" {
		if err := access.CheckCaller(e.By); err != nil {
			return fmt.Errorf("%w: an erasure that %.80q asked for: %w", dag.ErrForm, e.By, err)
		}
	}
	return nil
}

// Covers reports whether the erasure took the task of a record.
func (e *TaskErasure) Covers(r *Record) bool {
	return r.OfContext() && r.Provenance.SliceID == e.Context && r.Leaf < uint64(e.Size)
}

func (e *TaskErasure) entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("at")
	w.String(e.At.String())
	if e.By != "" {
		w.Key("by")
		w.String(e.By)
	}
	w.Key("context")
	w.String(string(e.Context))
	w.Key("reason")
	w.String(e.Reason)
	w.Key("size")
	w.Uint(uint64(e.Size))
	w.EndObject()
	return history.Entry{Seq: e.Seq, Kind: TaskErased, At: e.At, Public: w.Bytes}
}

// ReadTaskErasure reads the erasure that an entry of TaskErased is of. What is not in its form is dag.ErrForm.
func ReadTaskErasure(entry *history.Entry) (TaskErasure, error) {
	e := TaskErasure{Seq: entry.Seq}
	doc, err := canon.Parse(entry.Public)
	if err == nil {
		c := canon.Open(doc)
		e.At = canon.Parsed(c.Field("at"), dag.ParseTime)
		if by := c.Optional("by"); by != nil {
			e.By = by.String()
		}
		e.Context = canon.Parsed(c.Field("context"), slice.ParseSliceID)
		e.Reason = c.Field("reason").String()
		e.Size = dag.Seq(c.Field("size").Uint(uint64(dag.MaxSeq)))
		c.Close()
		err = c.Err()
	}
	if err == nil {
		err = e.Check()
	}
	if want := e.entry(); err == nil && !want.SameAlone(entry) {
		err = errors.New("it is not as it would be written")
	}
	if err != nil {
		return TaskErasure{}, fmt.Errorf("%w: erasure %d of a task: %w", dag.ErrForm, entry.Seq, err)
	}
	return e, nil
}

func (e *TaskErasure) contextKey() []byte {
	id, _ := sliceBytes(e.Context) // it was checked
	return id[:]
}

func (e *TaskErasure) terms(dst []history.Term) []history.Term {
	return append(dst,
		history.Term{Index: indexTask, Key: e.contextKey(), Since: e.Seq, Until: history.Forever},
		history.Term{Index: indexTaskNumber, Key: numberKey(uint64(e.Seq)), Since: e.Seq, Until: history.Forever})
}

// taskErasing is an erasure of a task on its way into the history.
type taskErasing struct {
	asked    TaskErasure
	recorded TaskErasure // by the last plan
}

func (c *taskErasing) key() history.Key {
	return history.Key{Index: indexTask, Key: string(c.asked.contextKey())}
}

// Needs asks for the records of the context, and for the erasure that there is.
func (c *taskErasing) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Size, n.Newest = true, []history.Key{c.key()}
		n.Ranges = []history.Range{{Index: indexSlice, Prefix: c.asked.contextKey()}}
	case 1:
		for _, t := range k.Ranges[0] {
			n.Records = append(n.Records, t.Since)
		}
		if t, ok := k.Newest[c.key()]; ok {
			n.Entries = []dag.Seq{t.Since}
		}
	}
	return n
}

// Plan takes the task of each record away and records that, if any has it.
func (c *taskErasing) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Erases: true}
	c.recorded = TaskErasure{}
	for _, t := range k.Ranges[0] {
		r, err := stored(k, t.Since)
		if err != nil {
			return nil, err
		}
		if !r.OfContext() {
			return nil, fmt.Errorf("%w: slice %s is no context, so it has no task", dag.ErrForm, c.asked.Context)
		}
		if r.Question != "" {
			p.ForgetRecords = append(p.ForgetRecords, t.Since)
		}
	}
	slices.Sort(p.ForgetRecords)
	if len(p.ForgetRecords) == 0 {
		t, ok := k.Newest[c.key()]
		if !ok {
			return p, nil
		}
		entry := k.Entries[t.Since]
		var err error
		c.recorded, err = ReadTaskErasure(&entry)
		return p, err
	}
	if k.Head >= dag.MaxSeq {
		return nil, fmt.Errorf("sequence number %d is the last possible one", k.Head)
	}
	e := &c.recorded
	*e = c.asked
	e.Seq, e.Size = k.Head+1, k.Size
	p.Entries, p.Begin = []history.Entry{e.entry()}, e.terms(nil)
	return p, nil
}

// EraseTask takes away the words of a context's task, with all that was asked for beside them, from every record of the context, beyond recovery
// from the store's own files, and records that. Where they are gone already, it changes nothing, returns the erasure that is on record (its zero
// value if they went with a turn), and finishes what the store could not finish before. An id that was never
// issued has no records: its zero value is returned, too. One of a slice is dag.ErrForm.
func (b Base) EraseTask(ctx context.Context, tenant dag.Tenant, e TaskErasure) (TaskErasure, error) {
	if err := e.Check(); err != nil {
		return TaskErasure{}, err
	}
	c := &taskErasing{asked: e}
	if err := b.Write(ctx, tenant, c); err != nil {
		return TaskErasure{}, fmt.Errorf("erase the task of %s: %w", e.Context, err)
	}
	return c.recorded, nil
}

// TaskErasures lists up to limit erasures of tasks numbered above after, by ascending number.
func (b Base) TaskErasures(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]TaskErasure, error) {
	if limit <= 0 {
		return nil, nil
	}
	return b.taskErasures(ctx, tenant, history.Range{Index: indexTaskNumber, After: &history.Place{Key: numberKey(uint64(after)), Since: dag.MaxSeq}, Limit: limit})
}

// TaskErasuresOf lists the erasures of a context's task, by ascending number: more than one if it was handed out again after the first.
func (b Base) TaskErasuresOf(ctx context.Context, tenant dag.Tenant, id slice.SliceID) ([]TaskErasure, error) {
	prefix, err := sliceBytes(id)
	if err != nil {
		return nil, nil // no context has it
	}
	return b.taskErasures(ctx, tenant, history.Range{Index: indexTask, Prefix: prefix[:]})
}

func (b Base) taskErasures(ctx context.Context, tenant dag.Tenant, r history.Range) ([]TaskErasure, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{r})
	if err != nil || len(lists) != 1 || len(lists[0]) == 0 {
		return nil, err
	}
	at := make([]dag.Seq, len(lists[0]))
	for i := range at {
		at[i] = lists[0][i].Since
	}
	slices.Sort(at)
	entries, err := b.Entries(ctx, tenant, history.Page{At: at})
	if err == nil && len(entries) != len(at) {
		err = fmt.Errorf("%w: %d erasures of tasks have %d entries", ErrDamaged, len(at), len(entries))
	}
	if err != nil {
		return nil, err
	}
	list := make([]TaskErasure, len(entries))
	for i := range entries {
		if list[i], err = ReadTaskErasure(&entries[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return list, nil
}

// TaskCodec is the codec of erasures of tasks.
type TaskCodec struct{}

// Kinds is TaskErased.
func (TaskCodec) Kinds() []history.Kind { return []history.Kind{TaskErased} }

// Stream is what is known.
func (TaskCodec) Stream() history.Stream { return history.Known }

// Turns returns none: a task rests on no turn.
func (TaskCodec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt makes a change of erasures of tasks that another store has.
func (TaskCodec) Adopt(entries []history.Entry) (history.Change, error) {
	a := &taskAdoption{entries: entries, list: make([]TaskErasure, len(entries))}
	for i := range entries {
		var err error
		if a.list[i], err = ReadTaskErasure(&entries[i]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// A taskAdoption is erasures of another store on their way into the history.
type taskAdoption struct {
	entries []history.Entry
	list    []TaskErasure
}

// Needs asks for the records of the contexts that are there: they may come later, and then without their tasks.
func (a *taskAdoption) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		for i := range a.list {
			n.Ranges = append(n.Ranges, history.Range{Index: indexSlice, Prefix: a.list[i].contextKey()})
		}
	case 1:
		for _, list := range k.Ranges {
			for _, t := range list {
				if t.Index == indexSlice {
					n.Records = append(n.Records, t.Since)
				}
			}
		}
	}
	return n
}

// Plan adds the entries, and takes the tasks away that they erase.
func (a *taskAdoption) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Entries: a.entries, Erases: len(a.entries) > 0}
	for i := range a.list {
		p.Begin = a.list[i].terms(p.Begin)
	}
	for _, e := range k.Records {
		if e.Kind != Kind || e.Private == nil {
			continue
		}
		r, err := readOf(k.Tenant, &e)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(a.list, func(t TaskErasure) bool { return t.Covers(&r) }) {
			p.ForgetRecords = append(p.ForgetRecords, e.Seq)
		}
	}
	slices.Sort(p.ForgetRecords)
	return p, nil
}
