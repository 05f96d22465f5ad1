package api

import (
	"cmp"
	"fmt"

	"github.com/graphkernel/graphkernel/slice"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

// A NewFact is a fact to record. Its confidence is 1 if it is left out.
type NewFact struct {
	Subject    string        `json:"subject" is:"Name" tool:"What it is about."`
	Predicate  string        `json:"predicate" is:"Name" tool:"A verb, active voice."`
	Object     string        `json:"object" is:"Name" tool:"An entity or a value."`
	ObjectText *string       `json:"object_text,omitempty" flag:"-" is:"MemoryText" doc:"A text to be stored byte for byte. Its name is object: text: and its SHA-256." tool:"-"`
	Confidence *dag.PPM      `json:"confidence,omitempty" flag:": how certain it is, from 0 to 1" tool:"Default 1."`
	Source     string        `json:"source,omitempty" flag:": the source that says so, such as user or llm:MODEL" is:"Source" tool:"Who says so, such as user or llm:x; mcp if left out."` // api if absent
	Turn       string        `json:"turn,omitempty" flag:": the turn that says so: its id, or a beginning of it" is:"TurnName" tool:"The recorded turn that it was learned from."`
	Slice      slice.SliceID `json:"slice,omitempty" flag:": the id of the slice that it was learned from" is:"AnySliceID" tool:"The slice that it was learned from."`
	ValidFrom  *dag.Time     `json:"valid_from,omitempty" flag:"from: the date or time from which it holds (default: 1970)" tool:"Holds from: a date or RFC 3339."`
	ValidUntil *dag.Time     `json:"valid_until,omitempty" flag:"until: the date or time at which it stops holding (default: never)" tool:"Holds until."`
	Supersedes []dag.Digest  `json:"supersedes,omitempty" flag:": statements whose belief it ends, separated by commas; may be repeated" max:"1000" tool:"Statements that it replaces."`
}

// Act returns the act that records the fact, without the turn. source is used if the fact names none. The error for an invalid
// fact is a *canon.FieldError.
func (f *NewFact) Act(source string) (knowledge.Act, error) {
	source = cmp.Or(f.Source, source)
	fact, err := knowledge.NewFact(f.Subject, f.Predicate, f.Object, source)
	if name := fact.Object; err == nil && f.ObjectText != nil {
		if fact, err = knowledge.NewText(f.Subject, f.Predicate, *f.ObjectText, source); err == nil && fact.Object != name {
			return knowledge.Act{}, &canon.FieldError{Path: "object_text", Err: fmt.Errorf("the name of this text is %s, but object is %s", fact.Object, name)}
		}
	}
	if err != nil {
		return knowledge.Act{}, &canon.FieldError{Err: err}
	}
	fact.Slice = string(f.Slice)
	set(&fact.Confidence, f.Confidence)
	set(&fact.From, f.ValidFrom)
	set(&fact.Until, f.ValidUntil)
	return checked(knowledge.Act{Kind: knowledge.Assert, Fact: fact, Supersedes: knowledge.SortIDs(f.Supersedes)})
}

func checked(act knowledge.Act) (knowledge.Act, error) {
	if err := act.Check(); err != nil {
		return act, &canon.FieldError{Err: err}
	}
	return act, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Act returns the act that ends the belief in the statement.
func (r *Retraction) Act() (knowledge.Act, error) {
	return checked(knowledge.Act{Kind: knowledge.Retract, Statement: r.Statement, Reason: r.Reason})
}

// A Retraction ends the belief in a statement.
type Retraction struct {
	Statement dag.Digest `json:"statement"`
	Reason    string     `json:"reason,omitempty" is:"RetractionReason"`
}

// Knowledge is the body of a batch. Retractions are recorded before facts.
type Knowledge struct {
	Retractions []Retraction `json:"retractions,omitempty" max:"10000"`
	Facts       []NewFact    `json:"facts,omitempty" max:"10000"`
}

// A KnowledgeOutcome is the outcome of recording a fact, a retraction or an alias.
type KnowledgeOutcome = knowledge.Outcome

// KnowledgeOutcomes is the answer to a batch. Each list is in the order of its request.
type KnowledgeOutcomes struct {
	Retractions []KnowledgeOutcome `json:"retractions"`
	Facts       []KnowledgeOutcome `json:"facts"`
}

// Written is the original spelling of names, where it differs from the canonical name.
type Written = knowledge.Written

// A FactEvidence is an assertion that counts as evidence of a fact.
type FactEvidence struct {
	Seq        dag.Seq       `json:"seq" is:"Seq"`
	At         dag.Time      `json:"at" is:"Time"`
	Source     string        `json:"source" is:"Source"`
	Confidence dag.PPM       `json:"confidence" is:"Fraction"`
	Turn       dag.TurnID    `json:"turn,omitzero" is:"UUID"`
	Slice      slice.SliceID `json:"slice,omitempty" is:"SliceID"`
	Written    Written       `json:"written,omitzero"`
}

// A Fact is a statement that is believed. Its names are canonical under the aliases in force.
type Fact struct {
	Statement     dag.Digest     `json:"statement" is:"Digest"`
	Subject       string         `json:"subject" is:"Name"`
	Predicate     string         `json:"predicate" is:"Name"`
	Object        string         `json:"object" is:"Name"`
	Asserted      Written        `json:"asserted,omitzero" doc:"The names in the statement itself, if aliases replace them."`
	Written       Written        `json:"written,omitzero"`
	Confidence    dag.PPM        `json:"confidence" is:"Fraction"`
	Source        string         `json:"source" is:"Source"`
	Turn          dag.TurnID     `json:"turn,omitzero" is:"UUID"`
	Since         dag.Seq        `json:"since" is:"Seq"`
	ValidFrom     dag.Time       `json:"valid_from,omitzero" is:"Time"`
	ValidUntil    dag.Time       `json:"valid_until,omitzero" is:"Time"`
	Evidence      []FactEvidence `json:"evidence"` // the newest, by ascending number
	EvidenceTotal int            `json:"evidence_total"`
}

// Stated returns the names of the statement itself.
func (f *Fact) Stated() Written {
	return Written{Subject: cmp.Or(f.Asserted.Subject, f.Subject), Predicate: f.Predicate, Object: cmp.Or(f.Asserted.Object, f.Object)}
}

// Spelled returns the names as they were written.
func (f *Fact) Spelled() (subject, predicate, object string) {
	s := f.Stated()
	return knowledge.Spelled(s.Subject, f.Written.Subject), knowledge.Spelled(s.Predicate, f.Written.Predicate), knowledge.Spelled(s.Object, f.Written.Object)
}

// Facts is a page of facts.
type Facts struct {
	Facts []Fact  `json:"facts"`
	Total int     `json:"total" doc:"The total of all pages."`
	AsOf  dag.Seq `json:"as_of" is:"Seq"`
	Next  string  `json:"next,omitempty" is:"Next"`
}

// A KnowledgeAct is a recorded change of the knowledge. Its names are as they were asserted, without aliases.
type KnowledgeAct struct {
	Seq        dag.Seq       `json:"seq" is:"Seq"`
	At         dag.Time      `json:"at" is:"Time"`
	Kind       string        `json:"kind" is:"KnowledgeKind"`
	Leaf       dag.Digest    `json:"leaf" is:"Digest"`
	Erased     bool          `json:"erased,omitempty" doc:"The act was erased with its turn; only its number, its leaf and the turn are left."`
	Statement  dag.Digest    `json:"statement,omitzero" is:"Digest"`
	Subject    string        `json:"subject,omitempty" is:"Name"`
	Predicate  string        `json:"predicate,omitempty" is:"Name"`
	Object     string        `json:"object,omitempty" is:"Name"`
	Written    Written       `json:"written,omitzero"`
	Confidence *dag.PPM      `json:"confidence,omitempty" is:"Fraction"`
	Source     string        `json:"source,omitempty" is:"Source"`
	Turn       dag.TurnID    `json:"turn,omitzero" is:"UUID"`
	Slice      slice.SliceID `json:"slice,omitempty" is:"SliceID"`
	ValidFrom  dag.Time      `json:"valid_from,omitzero" is:"Time"`
	ValidUntil dag.Time      `json:"valid_until,omitzero" is:"Time"`
	Supersedes []dag.Digest  `json:"supersedes,omitempty" is:"Digest"`
	Version    bool          `json:"version,omitempty" doc:"The assertion gave the statement its confidence."`
	Until      dag.Seq       `json:"until,omitempty" is:"Seq"` // the first number at which it no longer gave the confidence; absent: it still does
	Reason     string        `json:"reason,omitempty"`
	Alias      string        `json:"alias,omitempty" is:"Name"`
	Canonical  string        `json:"canonical,omitempty" is:"Name"`
}

// FactHistory is the whole history of a statement, or a page of it.
type FactHistory struct {
	Statement dag.Digest     `json:"statement" is:"Digest"`
	Acts      []KnowledgeAct `json:"acts"`
	Next      string         `json:"next,omitempty" is:"Next"`
}

// Short returns the page in a short form for agents, with at most the given number of assertions per fact.
func (f *Facts) Short(evidence int) any {
	type fact struct {
		*Fact
		Evidence []FactEvidence `json:"evidence,omitempty"`
	}
	w := struct {
		*Facts
		Short []fact `json:"facts"`
	}{f, make([]fact, len(f.Facts))}
	for i := range f.Facts {
		newest := f.Facts[i].Evidence
		w.Short[i] = fact{&f.Facts[i], newest[max(0, len(newest)-evidence):]}
	}
	return w
}

// A shortAct is an act for agents. Its own fields replace those of the act.
type shortAct struct {
	KnowledgeAct
	At      dag.Time   `json:"at,omitzero"`
	Kind    string     `json:"kind,omitempty"`
	Leaf    dag.Digest `json:"leaf,omitzero"`
	Version bool       `json:"version,omitempty"`
}

// Short returns the history in a short form for agents: the statement appears once, and not in its acts.
func (h *FactHistory) Short() any {
	w := struct {
		Statement  dag.Digest `json:"statement"`
		Subject    string     `json:"subject"`
		Predicate  string     `json:"predicate"`
		Object     string     `json:"object"`
		ValidFrom  dag.Time   `json:"valid_from,omitzero"`
		ValidUntil dag.Time   `json:"valid_until,omitzero"`
		Believed   bool       `json:"believed"`
		Total      int        `json:"total"`
		Acts       []shortAct `json:"acts"`
	}{Statement: h.Statement, Total: len(h.Acts), Acts: make([]shortAct, len(h.Acts))}
	for i, a := range h.Acts {
		if a.Subject != "" {
			w.Subject, w.Predicate, w.Object, w.ValidFrom, w.ValidUntil = a.Subject, a.Predicate, a.Object, a.ValidFrom, a.ValidUntil
		}
		w.Believed = w.Believed || a.Version && a.Until == 0
		a.Statement, a.Subject, a.Predicate, a.Object, a.ValidFrom, a.ValidUntil = dag.Digest{}, "", "", "", 0, 0
		w.Acts[i] = shortAct{KnowledgeAct: a, At: a.At, Kind: a.Kind}
	}
	return w
}

// Short returns the answer in a short form for agents, with at most the given number of acts. Every act is an assertion.
func (r *Retracted) Short(acts int) any {
	w := struct {
		*Retracted
		Acts []shortAct `json:"acts"`
	}{r, make([]shortAct, min(len(r.Acts), acts))}
	for i := range w.Acts {
		w.Acts[i] = shortAct{KnowledgeAct: r.Acts[i]}
	}
	return w
}

// KnowledgeChanges is a page of changes.
type KnowledgeChanges struct {
	Acts []KnowledgeAct `json:"acts"`
	Next string         `json:"next,omitempty" is:"Next"`
}

// Retracted lists the facts that were retracted, or that would be if DryRun is set.
type Retracted struct {
	DryRun bool           `json:"dry_run"`
	Total  int            `json:"total"`
	Acts   []KnowledgeAct `json:"acts"` // the assertions that counted
}

// A Step is a fact on a path, with canonical names and their original spelling. An outgoing step leads from the subject to the
// object.
type Step struct {
	Statement  dag.Digest `json:"statement" is:"Digest"`
	Subject    string     `json:"subject" is:"Name"`
	Predicate  string     `json:"predicate" is:"Name"`
	Object     string     `json:"object" is:"Name"`
	Asserted   Written    `json:"asserted,omitzero" doc:"The names in the statement itself, if aliases replace them."`
	Written    Written    `json:"written,omitzero"`
	Direction  string     `json:"direction" is:"outgoing|incoming"`
	Confidence dag.PPM    `json:"confidence" is:"Fraction"`
	Source     string     `json:"source" is:"Source"`
	Turn       dag.TurnID `json:"turn,omitzero" is:"UUID"`
	Since      dag.Seq    `json:"since" is:"Seq"`
	ValidFrom  dag.Time   `json:"valid_from,omitzero" is:"Time"`
	ValidUntil dag.Time   `json:"valid_until,omitzero" is:"Time"`
}

// A Reached is an entity that was reached, with a path to it.
type Reached struct {
	Entity        string  `json:"entity" is:"Name"`
	Hops          int     `json:"hops" is:"1.."`
	MinConfidence dag.PPM `json:"min_confidence" is:"Fraction"`
	From          string  `json:"from" is:"Name"`
	Path          []Step  `json:"path" min:"1"`
}

// Traversal is the answer to a traversal or to a search for paths.
type Traversal struct {
	Reached []Reached `json:"reached"`
	Cut     string    `json:"cut" is:"|results|work" doc:"Why the answer is not complete; empty if it is."`
	Looked  int       `json:"looked" doc:"The number of edges that were examined."`
	AsOf    dag.Seq   `json:"as_of" is:"Seq"`
}

// An Alias is a name with the canonical name that it means.
type Alias struct {
	Alias     string `json:"alias" is:"Name"`
	Canonical string `json:"canonical" is:"Name"`
}

// Aliases is a page of the alias table.
type Aliases struct {
	Aliases []Alias `json:"aliases"`
	Total   int     `json:"total"`
	AsOf    dag.Seq `json:"as_of" is:"Seq"`
	Next    string  `json:"next,omitempty" is:"Next"`
}

// AliasesAdded is the outcome of adding aliases.
type AliasesAdded struct {
	Added    int                `json:"added"`
	Existing int                `json:"existing"`
	Outcomes []KnowledgeOutcome `json:"outcomes,omitempty" doc:"One outcome for each alias, in order; absent for a list."`
	List     *AliasList         `json:"list,omitempty"` // of a list that was read
}

// An AliasList counts the entries of a list that were not used. These counts and the changes in the list add up to Entries.
type AliasList struct {
	Entries   int         `json:"entries"`
	Same      int         `json:"same" doc:"Alias and canonical name have the same form."`
	Repeated  int         `json:"repeated" doc:"The same entry occurred before."`
	Ambiguous int         `json:"ambiguous" doc:"Several names claim the alias."`
	Chained   int         `json:"chained" doc:"A name is both an alias and a canonical name."`
	Skipped   int         `json:"skipped" doc:"One side has no name."`
	Examples  []AliasSkip `json:"examples" max:"20"`
}

// An AliasSkip is an entry that was not used.
type AliasSkip struct {
	Place string `json:"place"`
	Why   string `json:"why"`
}

// A NameCount is a name with its number of facts.
type NameCount struct {
	Name  string `json:"name"`
	Facts int    `json:"facts"`
}

// KnowledgeStats counts the believed facts.
type KnowledgeStats struct {
	Facts           int         `json:"facts"`
	Entities        int         `json:"entities"`
	Predicates      []NameCount `json:"predicates" max:"100"`
	PredicatesTotal int         `json:"predicates_total"`
	Sources         []NameCount `json:"sources" max:"100"`
	SourcesTotal    int         `json:"sources_total"`
	Aliases         int         `json:"aliases"`
	AsOf            dag.Seq     `json:"as_of" is:"Seq"`
}

// A KnowledgeEvent reports a change of the knowledge.
type KnowledgeEvent struct {
	Seq        dag.Seq    `json:"seq"`
	AsOf       dag.Seq    `json:"as_of" is:"Seq" doc:"The number of the last entry of the change: a query as of it shows the result."`
	At         dag.Time   `json:"at"`
	Kind       string     `json:"kind"`
	Erased     bool       `json:"erased,omitempty"`
	Statement  dag.Digest `json:"statement,omitzero"`
	Subject    string     `json:"subject,omitempty"`
	Predicate  string     `json:"predicate,omitempty"`
	Object     string     `json:"object,omitempty"`
	Confidence *dag.PPM   `json:"confidence,omitempty"`
	Source     string     `json:"source,omitempty"`
	Alias      string     `json:"alias,omitempty"`
	Canonical  string     `json:"canonical,omitempty"`
}

// Event returns the event for an act. It leaves out fields that may be long.
func (a *KnowledgeAct) Event(asOf dag.Seq) KnowledgeEvent {
	return KnowledgeEvent{
		Seq: a.Seq, AsOf: asOf, At: a.At, Kind: a.Kind, Erased: a.Erased, Statement: a.Statement, Subject: a.Subject, Predicate: a.Predicate, Object: a.Object,
		Confidence: a.Confidence, Source: a.Source, Alias: a.Alias, Canonical: a.Canonical,
	}
}

// EventKnowledge names an event whose data is a KnowledgeEvent.
const EventKnowledge = "knowledge"
