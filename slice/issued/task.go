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

// TaskErased is the kind of the entries that record that the task of a context was erased.
const TaskErased history.Kind = "task-erased/1"

const (
	// indexTask maps a context's id, its eight bytes, to the entries that erased its task.
	indexTask history.Index = 122
	// indexTaskNumber maps the number of such an entry, eight bytes, big-endian, to the entry.
	indexTaskNumber history.Index = 123
)

// A TaskErasure records that the words of a context's task were erased.
type TaskErasure struct {
	Seq     dag.Seq       // its number in the stream history.Known; set by EraseTask
	Context slice.SliceID // the context whose records up to Size lost their task
	Size    dag.Seq       // the number of entries in the record; a context that is handed out later keeps its task
	Reason  string        // UTF-8
	At      dag.Time
	By      string // the caller who requested it, in the form of access.CheckCaller; "" if not recorded
}

// Check returns dag.ErrForm for the first field that is malformed.
func (e *TaskErasure) Check() error {
	if _, err := sliceBytes(e.Context); err != nil {
		return fmt.Errorf("%w: the task of context %.80q: %w", dag.ErrForm, e.Context, err)
	}
	if !e.At.Valid() || !utf8.ValidString(e.Reason) || e.Size > dag.MaxSeq {
		return fmt.Errorf("%w: the erasure of a task has the time %d, the record size %d and the reason %.40q, and one of them is out of range or not UTF-8", dag.ErrForm, e.At, e.Size, e.Reason)
	}
	if e.By != "" {
		if err := access.CheckCaller(e.By); err != nil {
			return fmt.Errorf("%w: the caller %.80q who asked for the erasure: %w", dag.ErrForm, e.By, err)
		}
	}
	return nil
}

// Covers reports whether the erasure removed the task of a record.
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

// ReadTaskErasure reads an entry of TaskErased. The error for a malformed entry is dag.ErrForm.
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
		err = errors.New("it differs from the entry that this program would write")
	}
	if err != nil {
		return TaskErasure{}, fmt.Errorf("%w: erasure %d of a task: %w", dag.ErrForm, entry.Seq, err)
	}
	return e, nil
}

func (e *TaskErasure) contextKey() []byte {
	id, _ := sliceBytes(e.Context) // its form was checked before
	return id[:]
}

func (e *TaskErasure) key() history.Key {
	return history.Key{Index: indexTask, Key: string(e.contextKey())}
}

// records returns the range of the context's records.
func (e *TaskErasure) records() history.Range {
	return history.Range{Index: indexSlice, Prefix: e.contextKey()}
}

// tasks returns the records of the context that still have a task, with their numbers.
func (e *TaskErasure) tasks(tx *history.Tx) (list []Record, numbers []dag.Seq, err error) {
	terms, err := tx.Terms(e.records())
	if err != nil {
		return nil, nil, err
	}
	var all []dag.Seq
	for i := range terms {
		all = append(all, terms[i].Since)
	}
	entries, err := tx.Entries(history.Record, all...)
	if err != nil {
		return nil, nil, err
	}
	for i := range entries {
		r, err := readOf(tx.Tenant(), &entries[i])
		if err != nil {
			return nil, nil, err
		}
		if !r.OfContext() {
			return nil, nil, fmt.Errorf("%w: slice %s is not a context, so it has no task", dag.ErrForm, e.Context)
		}
		if r.Question != "" {
			list, numbers = append(list, r), append(numbers, all[i])
		}
	}
	return list, numbers, nil
}

// EraseTask erases the words of a context's task, together with the rest of its request, from every record of the
// context, and records the erasure. The words cannot be recovered from the store's own files. If they were erased
// before, it returns the recorded erasure, or its zero value if they were erased with a turn, and completes work that
// the store could not finish then. It also returns the zero value for an id that was never issued. The error for the id
// of a bundle that is no context is dag.ErrForm.
func (b Base) EraseTask(ctx context.Context, tenant dag.Tenant, e TaskErasure) (TaskErasure, error) {
	if err := e.Check(); err != nil {
		return TaskErasure{}, err
	}
	var recorded TaskErasure
	err := b.Write(ctx, tenant, history.Deciding(TaskCodec{}, func(tx *history.Tx) error {
		recorded = TaskErasure{}
		tx.Erase()
		tx.Fetch([]history.Key{e.key()}, e.records())
		size, err := tx.Size()
		if err != nil {
			return err
		}
		list, _, err := e.tasks(tx)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			recorded = e
			recorded.Size = size
			recorded.Seq, err = tx.Add(recorded.entry())
			return err
		}
		t, there, err := tx.Newest(e.key())
		if err != nil || !there {
			return err
		}
		entries, err := tx.Entries(history.Known, t.Since)
		if err == nil {
			recorded, err = ReadTaskErasure(&entries[0])
		}
		return err
	}))
	if err != nil {
		return TaskErasure{}, fmt.Errorf("erase the task of %s: %w", e.Context, err)
	}
	return recorded, nil
}

// TaskErasures returns up to limit erasures of tasks with numbers above after, by ascending number.
func (b Base) TaskErasures(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]TaskErasure, error) {
	if limit <= 0 {
		return nil, nil
	}
	return b.taskErasures(ctx, tenant, history.Range{Index: indexTaskNumber, After: &history.Place{Key: numberKey(uint64(after)), Since: dag.MaxSeq}, Limit: limit})
}

// TaskErasuresOf returns the erasures of a context's task, by ascending number. There is more than one if the context
// was handed out again after the first.
func (b Base) TaskErasuresOf(ctx context.Context, tenant dag.Tenant, id slice.SliceID) ([]TaskErasure, error) {
	prefix, err := sliceBytes(id)
	if err != nil {
		return nil, nil // no context has this id
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

// Kinds returns TaskErased.
func (TaskCodec) Kinds() []history.Kind { return []history.Kind{TaskErased} }

// Stream returns history.Known.
func (TaskCodec) Stream() history.Stream { return history.Known }

// Turns returns none: a task does not rest on turns.
func (TaskCodec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt returns a change that adds erasures of tasks from another store.
func (c TaskCodec) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(c, entries), nil
}

// Fold erases the tasks in the context's records that this store has. Records may arrive later; they arrive without
// their tasks.
func (TaskCodec) Fold(tx *history.Tx, entry *history.Entry) error {
	e, err := ReadTaskErasure(entry)
	if err != nil {
		return err
	}
	list, numbers, err := e.tasks(tx)
	if err != nil {
		return err
	}
	tx.Erase()
	for i := range list {
		if e.Covers(&list[i]) {
			tx.Erase(numbers[i])
		}
	}
	tx.Begin(entry, history.Term{Index: indexTask, Key: e.contextKey()}, history.Term{Index: indexTaskNumber, Key: numberKey(uint64(e.Seq))})
	return nil
}
