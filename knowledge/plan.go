package knowledge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// MaxActs bounds the acts that one request records, and MaxBatch those that are recorded at
// once. Who loads millions takes more than a request does: a batch changes each page of an
// index that it meets once, however many of its facts are there.
const (
	MaxActs  = 10_000
	MaxBatch = 100_000
)

// ErrNotBelieved is wrapped if an act supersedes a statement that is not believed: it was never
// asserted, or somebody else has ended it meanwhile. Look again, and decide anew.
var ErrNotBelieved = errors.New("the statement is not believed")

// Prepared is the part of recording that depends on nothing stored: the acts checked, and
// their leaves. It refers to the acts, which must not change meanwhile.
type Prepared struct {
	acts    []Act
	ids     []ID         // of the statement that each act is about
	leaves  []dag.Digest // of each act
	texts   [][]byte     // the canonical form of each
	touched []ID         // every statement whose state matters, once
	aliases bool
	history []Recorded // if not nil, the acts have numbers and times
}

// Prepare checks up to MaxBatch acts and computes their digests; an [ActError] names the one
// that is refused. Its cost is two SHA-256 of about 200 bytes for each.
func Prepare(acts []Act) (*Prepared, error) {
	if len(acts) > MaxBatch {
		return nil, fmt.Errorf("%w: %d acts at once, at most %d", ErrForm, len(acts), MaxBatch)
	}
	p := &Prepared{acts: acts, ids: make([]ID, len(acts)), leaves: make([]dag.Digest, len(acts)), texts: make([][]byte, len(acts))}
	if err := p.digest(); err != nil {
		return nil, err
	}
	seen := make(map[ID]bool, len(acts))
	touch := func(id ID) {
		if !seen[id] {
			seen[id] = true
			p.touched = append(p.touched, id)
		}
	}
	for i := range acts {
		a := &acts[i]
		if a.Kind != Assert && a.Kind != Retract {
			p.aliases = true
			continue
		}
		touch(p.ids[i])
		for _, id := range a.Supersedes {
			touch(id)
		}
	}
	return p, nil
}

// digest checks the acts and computes what follows from each alone, on as many processors as
// there are: it is a third of the time in which a large batch is recorded.
func (p *Prepared) digest() error {
	const portion = 512
	if len(p.acts) <= portion {
		return p.digestPortion(0, len(p.acts))
	}
	portions := (len(p.acts) + portion - 1) / portion
	errs := make([]error, portions)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), portions) {
		workers.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= portions {
					return
				}
				errs[n] = p.digestPortion(n*portion, min((n+1)*portion, len(p.acts)))
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil { // that of the first act
			return err
		}
	}
	return nil
}

func (p *Prepared) digestPortion(from, to int) error {
	text := make([]byte, 0, 320*(to-from)) // of all of them
	for i := from; i < to; i++ {
		a := &p.acts[i]
		if err := a.Check(); err != nil {
			return &ActError{i, len(p.acts), err}
		}
		began := len(text)
		text = a.Append(append(text, 0)) // what came before it stays where it was if this moves
		p.texts[i] = text[began+1 : len(text) : len(text)]
		p.leaves[i] = sha256.Sum256(text[began:])
		switch a.Kind {
		case Assert:
			p.ids[i] = a.Fact.ID()
		case Retract:
			p.ids[i] = a.Statement
		}
	}
	return nil
}

// PrepareHistory is Prepare for acts that another store recorded: they keep their numbers
// and times.
func PrepareHistory(recorded []Recorded) (*Prepared, error) {
	acts := make([]Act, len(recorded))
	for i := range recorded {
		acts[i] = recorded[i].Act
	}
	p := &Prepared{history: recorded}
	for len(acts) > 0 {
		some := acts[:min(len(acts), MaxBatch)]
		acts = acts[len(some):]
		more, err := Prepare(some)
		if err != nil {
			var which *ActError
			if errors.As(err, &which) {
				err = &ActError{len(p.acts) + which.Index, len(recorded), which.Err}
			}
			return nil, fmt.Errorf("%w: %w", dag.ErrForm, err)
		}
		p.acts, p.ids = append(p.acts, more.acts...), append(p.ids, more.ids...)
		p.leaves, p.texts = append(p.leaves, more.leaves...), append(p.texts, more.texts...)
		p.touched, p.aliases = append(p.touched, more.touched...), p.aliases || more.aliases
	}
	for i := range recorded {
		if r := &recorded[i]; r.Leaf != p.leaves[i] {
			return nil, fmt.Errorf("%w: number %d has the leaf %s, and its act gives %s", dag.ErrForm, r.Seq, r.Leaf, p.leaves[i])
		} else if !r.At.Valid() {
			return nil, fmt.Errorf("%w: number %d was recorded at %d, which is no time", dag.ErrForm, r.Seq, r.At)
		}
	}
	return p, nil
}

// Touched returns the statements whose believed versions planning must know, some of them more
// than once.
func (p *Prepared) Touched() []ID { return p.touched }

// Text returns the canonical form of an act.
func (p *Prepared) Text(i int) []byte { return p.texts[i] }

// About returns the statement that an act is about, and false if it is about an alias.
func (p *Prepared) About(i int) (ID, bool) {
	k := p.acts[i].Kind
	return p.ids[i], k == Assert || k == Retract
}

// Version is [Recorded.Version] of what was planned of an act.
func (p *Prepared) Version(i int, r *Recorded) (Version, bool) {
	if r.Act.Kind != Assert || r.Until == 0 {
		return Version{}, false
	}
	return r.version(p.ids[i]), true
}

// Asserted returns the assertions: the statement and the leaf of each.
func (p *Prepared) Asserted(yield func(ID, dag.Digest) bool) {
	for i := range p.acts {
		if p.acts[i].Kind == Assert && !yield(p.ids[i], p.leaves[i]) {
			return
		}
	}
}

// Aliases reports whether planning must know the alias table.
func (p *Prepared) Aliases() bool { return p.aliases }

// Known is what is stored about prepared acts.
type Known struct {
	Head     dag.Seq
	Believed map[ID]Belief          // of Touched, those that are believed
	Recorded map[dag.Digest]dag.Seq // by leaf: the newest number under which an assertion is
	Aliases  *normalize.Table       // if Prepared.Aliases
}

// A Belief is the version in which a statement is believed, and since when it is.
type Belief struct {
	Since      dag.Seq // of the version: the number of its assertion
	Opened     dag.Seq // the number of the assertion that began the belief
	Confidence dag.PPM
}

// A Result says what became of an act.
type Result string

// The results.
const (
	Asserted  Result = "asserted"  // the statement is believed now, and was not
	Confirmed Result = "confirmed" // it was believed already; the evidence was added
	Existing  Result = "existing"  // nothing changed: the same is recorded
	Retracted Result = "retracted" // the statement is believed no longer
	Absent    Result = "absent"    // nothing changed: there was nothing to retract or remove
	Aliased   Result = "aliased"   // the alias counts from now on
	Unaliased Result = "unaliased" // and no longer
)

// An Outcome is the result of an act, and the number that it was recorded under; 0 if it
// changed nothing.
type Outcome struct {
	Result    Result
	Seq       dag.Seq
	Statement ID // of Assert and Retract
}

// A Planned write is what a back end does.
type Planned struct {
	Head     dag.Seq
	Outcomes []Outcome  // of each act
	Recorded []Recorded // to insert, by ascending Seq
	Which    []int      // of the prepared acts each of these is
	Opened   []dag.Seq  // of each of these that began a version: Belief.Opened; else 0
	Ended    []Ending   // stored versions to end
	Aliases  *normalize.Table
}

// An Ending ends the version that the assertion of a number began.
type Ending struct {
	Statement ID
	Since     dag.Seq
	Until     dag.Seq
}

// A planner goes through acts one by one.
type planner struct {
	prepared *Prepared
	*Planned
	at       dag.Time
	believed map[ID]Belief
	recorded map[dag.Digest]dag.Seq
	mine     map[dag.Seq]int // versions that this plan began, by their numbers: indexes of Recorded
}

// Plan decides what recording the acts does, at a time. All are recorded or none: an
// [ActError] names the act. It is pure.
func (p *Prepared) Plan(k Known, at dag.Time) (*Planned, error) {
	n := len(p.acts) // of which most are new, as a rule
	w := &planner{
		prepared: p, at: at,
		Planned: &Planned{
			Head: k.Head, Aliases: k.Aliases, Outcomes: make([]Outcome, 0, n),
			Recorded: make([]Recorded, 0, n), Which: make([]int, 0, n), Opened: make([]dag.Seq, 0, n),
		},
		believed: make(map[ID]Belief, len(k.Believed)+n), recorded: make(map[dag.Digest]dag.Seq, len(k.Recorded)+n),
		mine: make(map[dag.Seq]int, n),
	}
	for id, b := range k.Believed {
		w.believed[id] = b
	}
	for leaf, seq := range k.Recorded {
		w.recorded[leaf] = seq
	}
	for i := range p.acts {
		o, err := w.act(i)
		if err != nil {
			if p.history != nil { // it was recorded once, so the history is none
				err = fmt.Errorf("%w: number %d: %w", dag.ErrForm, p.history[i].Seq, err)
			}
			return nil, &ActError{i, len(p.acts), err}
		}
		if o.Seq == 0 && p.history != nil {
			return nil, fmt.Errorf("%w: number %d changes nothing, and would not have been recorded", dag.ErrForm, p.history[i].Seq)
		}
		w.Outcomes = append(w.Outcomes, o)
	}
	return w.Planned, nil
}

func (w *planner) act(i int) (Outcome, error) {
	a := &w.prepared.acts[i]
	switch a.Kind {
	case Assert:
		return w.assert(i, a)
	case Retract:
		return w.retract(i)
	}
	return w.alias(i, a)
}

func (w *planner) assert(i int, a *Act) (Outcome, error) {
	id := w.prepared.ids[i]
	now, believed := w.believed[id]
	if seq, ok := w.recorded[w.prepared.leaves[i]]; ok && believed && seq >= now.Opened {
		return Outcome{Existing, 0, id}, nil
	}
	for _, old := range a.Supersedes {
		if _, ok := w.believed[old]; !ok {
			return Outcome{}, fmt.Errorf("%w: %s, which %s was to supersede", ErrNotBelieved, old, id)
		}
	}
	seq, err := w.record(i)
	if err != nil {
		return Outcome{}, err
	}
	w.recorded[w.prepared.leaves[i]] = seq
	for _, old := range a.Supersedes {
		w.end(old, seq)
	}
	next, result := Belief{Since: seq, Opened: seq, Confidence: a.Fact.Confidence}, Asserted
	if believed {
		if result = Confirmed; a.Fact.Confidence <= now.Confidence {
			return Outcome{result, seq, id}, nil
		}
		next.Opened = now.Opened
		w.end(id, seq)
	}
	w.believed[id] = next
	last := len(w.Recorded) - 1
	w.Recorded[last].Until, w.Recorded[last].Opened, w.Opened[last] = dag.MaxSeq, next.Opened, next.Opened
	w.mine[seq] = last
	return Outcome{result, seq, id}, nil
}

func (w *planner) retract(i int) (Outcome, error) {
	id := w.prepared.ids[i]
	if _, ok := w.believed[id]; !ok {
		return Outcome{Absent, 0, id}, nil
	}
	seq, err := w.record(i)
	if err != nil {
		return Outcome{}, err
	}
	w.end(id, seq)
	return Outcome{Retracted, seq, id}, nil
}

// end ends what is believed of a statement.
func (w *planner) end(id ID, until dag.Seq) {
	b := w.believed[id]
	if n, ok := w.mine[b.Since]; ok {
		w.Recorded[n].Until = until
	} else {
		w.Ended = append(w.Ended, Ending{id, b.Since, until})
	}
	delete(w.believed, id)
}

// record returns an act its number.
func (w *planner) record(i int) (dag.Seq, error) {
	if w.Head == dag.MaxSeq {
		return 0, fmt.Errorf("%w: the tenant has used the last number, %d", ErrForm, dag.MaxSeq)
	}
	at := w.at
	if w.Head++; w.prepared.history != nil {
		w.Head, at = w.prepared.history[i].Seq, w.prepared.history[i].At
	}
	w.Recorded = append(w.Recorded, Recorded{Seq: w.Head, At: at, Act: w.prepared.acts[i], Leaf: w.prepared.leaves[i]})
	w.Which, w.Opened = append(w.Which, i), append(w.Opened, 0)
	return w.Head, nil
}

// alias changes the table.
func (w *planner) alias(i int, a *Act) (Outcome, error) {
	if a.Kind == Unalias && w.Planned.Aliases.Resolve(a.Alias) == a.Alias {
		return Outcome{Result: Absent}, nil
	}
	table, outcomes, err := w.Planned.Aliases.With(normalize.Change{Alias: a.Alias, Canonical: a.Canonical, Remove: a.Kind == Unalias})
	if err != nil {
		return Outcome{}, err
	}
	if outcomes[0] == normalize.Existing {
		return Outcome{Result: Existing}, nil
	}
	seq, err := w.record(i)
	if err != nil {
		return Outcome{}, err
	}
	w.Planned.Aliases = table
	if a.Kind == Unalias {
		return Outcome{Result: Unaliased, Seq: seq}, nil
	}
	return Outcome{Result: Aliased, Seq: seq}, nil
}

// AliasesOf returns the table that follows from acts about aliases, by ascending Seq, as of a
// number, on top of one that is older.
func AliasesOf(t *normalize.Table, acts []Recorded, asOf dag.Seq) (*normalize.Table, error) {
	var changes []normalize.Change
	for i := range acts {
		if a := &acts[i].Act; acts[i].Seq <= asOf {
			changes = append(changes, normalize.Change{Alias: a.Alias, Canonical: a.Canonical, Remove: a.Kind == Unalias})
		}
	}
	t, _, err := t.With(changes...)
	return t, err
}
