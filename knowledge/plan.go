package knowledge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// MaxActs bounds the acts of one request, and MaxBatch the acts that are recorded at once. A bulk load records more than
// a request at once: a batch changes each index page that it touches once, however many of its facts are on that page.
const (
	MaxActs  = 10_000
	MaxBatch = 100_000
)

// ErrNotBelieved is wrapped if an act supersedes a statement that is not believed: it was never
// asserted, or somebody else has ended it meanwhile. The caller should read again and decide anew.
var ErrNotBelieved = errors.New("the statement is not believed")

// ErrNoEvidence is wrapped if a fact names a turn or a slice that is not stored here.
var ErrNoEvidence = errors.New("the evidence is not in this store")

// ErrErased is wrapped if a fact that was just found was erased meanwhile. The caller should ask again.
var ErrErased = errors.New("facts were erased during the read; ask again")

// Prepared is the part of recording acts that does not depend on stored data: the checked
// acts and their digests. It refers to the acts, which must not change meanwhile.
type Prepared struct {
	acts     []Act
	ids      []ID         // the statement that each act is about
	contents []dag.Digest // the Content of each act
	publics  [][]byte     // the public half of each act
	touched  []ID         // the statements whose state matters, see Touched
	aliases  bool
	history  []Recorded // if not nil, another store recorded the acts, with these numbers and times
	public   bool       // callers make the acts, and may not change facts that beliefs assert
}

// Prepare checks up to MaxBatch acts and computes their digests; an [ActError] names a refused act. It costs four SHA-256 of about 200 bytes per act.
func Prepare(acts []Act) (*Prepared, error) {
	if len(acts) > MaxBatch {
		return nil, fmt.Errorf("%w: the request has %d acts, at most %d", ErrForm, len(acts), MaxBatch)
	}
	p := &Prepared{acts: acts, ids: make([]ID, len(acts)), contents: make([]dag.Digest, len(acts)), publics: make([][]byte, len(acts))}
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

// digest checks the acts and computes the digests of each, on all processors: this takes a third of the time of recording a large batch.
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
		if err != nil { // the error of the first refused act
			return err
		}
	}
	return nil
}

func (p *Prepared) digestPortion(from, to int) error {
	publics := make([]byte, 0, 160*(to-from)) // the public halves of the portion
	var text []byte
	for i := from; i < to; i++ {
		a := &p.acts[i]
		if err := a.Check(); err != nil {
			return &ActError{i, len(p.acts), err}
		}
		var salt int
		text, salt = a.append(text[:0])
		began := len(publics)
		publics = a.appendPublic(publics, sha256.Sum256(text)) // if append reallocates, earlier halves stay in the old array
		p.publics[i] = publics[began:len(publics):len(publics)]
		p.contents[i] = contentOf(text, salt)
		switch a.Kind {
		case Assert:
			p.ids[i] = a.Fact.Chain()
		case Retract:
			p.ids[i] = a.Statement
		}
	}
	return nil
}

// contentOf returns the [Act.Content] of an act with this canonical form, which it overwrites, and with the salt's first digit at a position.
func contentOf(text []byte, salt int) dag.Digest {
	for i := range 2 * len(dag.Salt{}) {
		text[salt+i] = '0'
	}
	return sha256.Sum256(text)
}

// PrepareHistory is like Prepare for acts that another store recorded: they keep their numbers and times.
func PrepareHistory(recorded []Recorded) (*Prepared, error) {
	n := len(recorded)
	all := &Prepared{
		acts: make([]Act, n), ids: make([]ID, n), contents: make([]dag.Digest, n), publics: make([][]byte, n), history: recorded,
	}
	var living []int // the acts that were not erased
	for i := range recorded {
		r := &recorded[i]
		if all.acts[i] = r.Act; !r.At.Valid() {
			return nil, fmt.Errorf("%w: number %d was recorded at %d, want a time from 1970 to 9999", dag.ErrForm, r.Seq, r.At)
		}
		if !r.Erased {
			living = append(living, i)
		}
	}
	for some := range slices.Chunk(living, MaxBatch) {
		acts := make([]Act, len(some))
		for k, i := range some {
			acts[k] = recorded[i].Act
		}
		p, err := Prepare(acts)
		if err != nil {
			var which *ActError
			if errors.As(err, &which) {
				err = &ActError{some[which.Index], n, which.Err}
			}
			return nil, fmt.Errorf("%w: %w", dag.ErrForm, err)
		}
		for k, i := range some {
			all.ids[i], all.contents[i], all.publics[i] = p.ids[k], p.contents[k], p.publics[k]
			if leaf := leafOf(p.publics[k]); leaf != recorded[i].Leaf {
				return nil, fmt.Errorf("%w: number %d has the leaf %s, but the leaf computed from its act is %s", dag.ErrForm, recorded[i].Seq, recorded[i].Leaf, leaf)
			}
		}
		all.touched, all.aliases = append(all.touched, p.touched...), all.aliases || p.aliases
	}
	return all, nil
}

// Touched returns the statements whose believed versions Plan must know, possibly with duplicates.
func (p *Prepared) Touched() []ID { return p.touched }

// About returns the statement that an act is about, and false if it is about an alias.
func (p *Prepared) About(i int) (ID, bool) {
	k := p.acts[i].Kind
	return p.ids[i], k == Assert || k == Retract
}

// Aliases reports whether Plan must know the alias table.
func (p *Prepared) Aliases() bool { return p.aliases }

// Known contains the stored data about prepared acts.
type Known struct {
	Head     dag.Seq
	Believed map[ID]Belief          // the statements of Touched that are believed
	Recorded map[dag.Digest]dag.Seq // the newest number of an assertion, by its Content
	Aliases  *normalize.Table       // set if Prepared.Aliases

	// Of the numbers that were asked for: those of erased acts, and the assertions with the other numbers.
	Erased   map[dag.Seq]bool
	Versions map[dag.Seq]*Fact
}

// A Belief is the version in which a statement is believed, and the number that began the belief.
type Belief struct {
	Since      dag.Seq // the number of the assertion that began the version
	Opened     dag.Seq // the number of the assertion that began the belief
	Confidence dag.PPM
}

// A Result is the effect of an act.
type Result string

// The results.
const (
	Asserted  Result = "asserted"  // the statement is believed now, and was not before
	Confirmed Result = "confirmed" // it was believed already; the evidence was added
	Existing  Result = "existing"  // nothing changed: the same act is recorded already
	Retracted Result = "retracted" // the statement is no longer believed
	Absent    Result = "absent"    // nothing changed: there was nothing to retract or remove
	Aliased   Result = "aliased"   // the alias counts from now on
	Unaliased Result = "unaliased" // the alias no longer counts
	Erased    Result = "erased"    // another store recorded and erased the act: its effect is unknown
)

// An Outcome is the result of an act, and the number under which it was recorded; 0 if it changed nothing.
type Outcome struct {
	Result    Result  `json:"result" is:"KnowledgeResult"`
	Seq       dag.Seq `json:"seq,omitempty"`
	Statement ID      `json:"statement,omitzero" is:"Digest"` // of Assert and Retract
}

// A Planned lists what a store must write.
type Planned struct {
	Head     dag.Seq
	Outcomes []Outcome  // of each act
	Recorded []Recorded // to insert, by ascending Seq
	Which    []int      // for each of Recorded, the index of its prepared act
	Ended    []Ending   // stored versions to end
	Aliases  *normalize.Table
}

// An Ending ends the version that the assertion with the number Since began.
type Ending struct {
	Statement ID // zero: the statement of Known.Versions
	Since     dag.Seq
	Until     dag.Seq
}

// A planner decides acts one by one.
type planner struct {
	prepared *Prepared
	*Planned
	at       dag.Time
	believed map[ID]Belief
	recorded map[dag.Digest]dag.Seq
	mine     map[dag.Seq]int // versions that this plan began: from their numbers to indexes of Recorded
	erased   map[dag.Seq]bool
	versions map[dag.Seq]*Fact
}

// Plan decides what recording the acts at a time changes. All acts are recorded or none; an [ActError] names a refused act. It is pure.
func (p *Prepared) Plan(k Known, at dag.Time) (*Planned, error) {
	n := len(p.acts) // usually most acts are new
	w := &planner{
		prepared: p, at: at,
		Planned: &Planned{
			Head: k.Head, Aliases: k.Aliases, Outcomes: make([]Outcome, 0, n),
			Recorded: make([]Recorded, 0, n), Which: make([]int, 0, n),
		},
		believed: make(map[ID]Belief, len(k.Believed)+n), recorded: make(map[dag.Digest]dag.Seq, len(k.Recorded)+n),
		mine: make(map[dag.Seq]int, n), erased: map[dag.Seq]bool{}, versions: k.Versions,
	}
	maps.Copy(w.erased, k.Erased)
	for id, b := range k.Believed {
		w.believed[id] = b
	}
	for leaf, seq := range k.Recorded {
		w.recorded[leaf] = seq
	}
	for i := range p.acts {
		o, err := w.act(i)
		if err != nil {
			if p.history != nil { // another store recorded it, so its history is invalid
				err = fmt.Errorf("%w: number %d: %w", dag.ErrForm, p.history[i].Seq, err)
			}
			return nil, &ActError{i, len(p.acts), err}
		}
		if o.Seq == 0 && p.history != nil {
			return nil, fmt.Errorf("%w: number %d changes nothing, so it cannot be part of a history", dag.ErrForm, p.history[i].Seq)
		}
		w.Outcomes = append(w.Outcomes, o)
	}
	return w.Planned, nil
}

func (w *planner) act(i int) (Outcome, error) {
	a := &w.prepared.acts[i]
	if h := w.prepared.history; h != nil {
		if h[i].Erased {
			return w.gone(i)
		}
		w.recall(i, a, &h[i].Did)
	}
	switch a.Kind {
	case Assert:
		return w.assert(i, a)
	case Retract:
		return w.retract(i)
	}
	return w.alias(i, a)
}

// gone records an act that was erased. The versions that it ended stay ended.
func (w *planner) gone(i int) (Outcome, error) {
	seq, err := w.record(i)
	if err != nil {
		return Outcome{}, err
	}
	w.erased[seq] = true
	for _, since := range w.prepared.history[i].Did.Ended {
		if n, ok := w.mine[since]; ok {
			w.Recorded[n].Until = seq
			delete(w.believed, w.prepared.ids[w.Which[n]])
		} else if f := w.versions[since]; f != nil {
			w.Ended = append(w.Ended, Ending{ID{}, since, seq})
			delete(w.believed, f.Chain())
		}
	}
	return Outcome{Result: Erased, Seq: seq}, nil
}

// recall restores beliefs that erased acts began, as far as the decision of an adopted act shows them:
// whether its statement, and the statements that it superseded, were believed because of an erased act.
func (w *planner) recall(i int, a *Act, did *Decision) {
	believe := func(id ID, b Belief) {
		if now, ok := w.believed[id]; ok && !w.erased[now.Since] {
			return
		}
		if delete(w.believed, id); w.erased[b.Since] {
			w.believed[id] = b
		}
	}
	ended := func(k int) (b Belief) {
		if k < len(did.Ended) {
			b.Since = did.Ended[k]
		}
		return b
	}
	switch a.Kind {
	case Retract:
		believe(a.Statement, ended(0))
		return
	case Alias, Unalias:
		return
	}
	for k, old := range a.Supersedes {
		believe(old, ended(k))
	}
	b := Belief{Since: did.Under, Opened: did.Under, Confidence: a.Fact.Confidence}
	if did.Opened != 0 && b.Confidence > 0 { // it was believed with a lower confidence
		b.Opened, b.Confidence = did.Opened, b.Confidence-1
	}
	believe(w.prepared.ids[i], b)
}

func (w *planner) assert(i int, a *Act) (Outcome, error) {
	id := w.prepared.ids[i]
	now, believed := w.believed[id]
	if seq, ok := w.recorded[w.prepared.contents[i]]; ok && believed && seq >= now.Opened {
		return Outcome{Existing, 0, id}, nil
	}
	for _, old := range a.Supersedes {
		if _, ok := w.believed[old]; !ok {
			return Outcome{}, fmt.Errorf("%w: %s, which the new statement %s should supersede", ErrNotBelieved, old, id)
		}
		if err := w.mayEnd(w.believed[old].Since); err != nil {
			return Outcome{}, err
		}
	}
	seq, err := w.record(i)
	if err != nil {
		return Outcome{}, err
	}
	w.recorded[w.prepared.contents[i]] = seq
	did := w.did()
	for _, old := range a.Supersedes {
		w.end(old, seq)
	}
	next, result := Belief{Since: seq, Opened: seq, Confidence: a.Fact.Confidence}, Asserted
	if believed {
		did.Under = now.Since
		if result = Confirmed; a.Fact.Confidence <= now.Confidence {
			return Outcome{result, seq, id}, nil
		}
		next.Opened = now.Opened
		w.end(id, seq)
	}
	w.believed[id] = next
	last := len(w.Recorded) - 1
	did.Opened = next.Opened
	w.Recorded[last].Until, w.Recorded[last].Opened = dag.MaxSeq, next.Opened
	w.mine[seq] = last
	return Outcome{result, seq, id}, nil
}

func (w *planner) retract(i int) (Outcome, error) {
	id := w.prepared.ids[i]
	b, ok := w.believed[id]
	if !ok {
		return Outcome{Absent, 0, id}, nil
	}
	if err := w.mayEnd(b.Since); err != nil {
		return Outcome{}, err
	}
	seq, err := w.record(i)
	if err != nil {
		return Outcome{}, err
	}
	w.end(id, seq)
	return Outcome{Retracted, seq, id}, nil
}

// mayEnd refuses to end a fact that a belief asserts if the acts are those of callers. Acts of the belief and adopted acts may end it.
func (w *planner) mayEnd(since dag.Seq) error {
	if f := w.versions[since]; w.prepared.public && f != nil && f.Held() {
		return fmt.Errorf("%w: number %d", ErrHeld, since)
	}
	return nil
}

// did returns the decision of the act that was recorded last.
func (w *planner) did() *Decision { return &w.Recorded[len(w.Recorded)-1].Did }

// end ends the belief in a statement.
func (w *planner) end(id ID, until dag.Seq) {
	b := w.believed[id]
	did := w.did()
	did.Ended = append(did.Ended, b.Since)
	if n, ok := w.mine[b.Since]; ok {
		w.Recorded[n].Until = until
	} else if !w.erased[b.Since] {
		w.Ended = append(w.Ended, Ending{id, b.Since, until})
	}
	delete(w.believed, id)
}

// record adds an act to the plan and returns its number.
func (w *planner) record(i int) (dag.Seq, error) {
	if w.Head == dag.MaxSeq {
		return 0, fmt.Errorf("%w: the tenant has used the last number, %d", ErrForm, dag.MaxSeq)
	}
	at := w.at
	if w.Head++; w.prepared.history != nil {
		w.Head, at = w.prepared.history[i].Seq, w.prepared.history[i].At
	}
	w.Recorded, w.Which = append(w.Recorded, Recorded{Seq: w.Head, At: at, Act: w.prepared.acts[i]}), append(w.Which, i)
	return w.Head, nil
}

// alias changes the alias table.
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

// AliasesOf returns the alias table t with the changes of acts about aliases, in ascending order, up to the number asOf.
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
