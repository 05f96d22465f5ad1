package contexts

import (
	"cmp"
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
)

// A Kind is the kind of a candidate.
type Kind string

// The kinds.
const (
	KindBelief Kind = "belief" // a revision of a believed item
	KindFact   Kind = "fact"
	KindTurn   Kind = "turn"
)

// A Candidate is a turn, fact or belief that a source found, with its features.
type Candidate struct {
	Kind     Kind
	ID       string     // a turn's id, a fact's statement, or a belief's address with the revision
	Leaf     dag.Digest // as in the ledger; it binds the text
	Seq      dag.Seq    // the number at which it was admitted or learned
	Cost     int        // tokens of its text, see Tokens
	From     [Sources]bool
	Features [Features]dag.PPM
	Excerpt  *Excerpt // of a turn from FromLines: what is shown in place of its text, and what the cost counts; nil: its text is shown

	// Set under gkc/2 if Choose asked for the block of the candidate. Only turns and beliefs have a standing.
	Looked   bool
	Block    int // the tokens that it takes in the prompt, with the headings that it opens
	Standing dag.Standing
	Setting  uint16 // the index of the setting that decides, among those of the bundle
	Rule     uint16 // the number of the rule of its policy that decides, from 1; 0: none
}

// Mandatory reports whether the candidate is chosen regardless of the others: FromConstraints is among its sources.
func (c *Candidate) Mandatory() bool { return c.From[FromConstraints] }

func (c *Candidate) compare(d *Candidate) int {
	return cmp.Or(cmp.Compare(c.Kind, d.Kind), cmp.Compare(c.ID, d.ID))
}

// Counter names the rule for counting tokens.
const Counter = "bytes/4@1"

// Tokens returns the number of tokens of a text by the rule Counter: its bytes in UTF-8 divided by four, rounded up.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// write writes a candidate; with a type, it writes the candidate's leaf. Features of 0 are left out.
func (c *Candidate) write(w *canon.Writer, leafType string) {
	w.BeginObject()
	if c.Looked {
		w.Key("block")
		w.Uint(uint64(c.Block))
	}
	w.Key("cost")
	w.Uint(uint64(c.Cost))
	if c.Excerpt != nil {
		w.Key("excerpt")
		c.Excerpt.write(w)
	}
	w.Key("features")
	w.BeginObject()
	for i, f := range c.Features {
		if f > 0 {
			w.Key(features[i])
			w.Uint(uint64(f))
		}
	}
	w.EndObject()
	w.Key("from")
	w.BeginArray()
	for i, from := range c.From {
		if from {
			w.String(sources[i])
		}
	}
	w.EndArray()
	w.Key("id")
	w.String(c.ID)
	w.Key("kind")
	w.String(string(c.Kind))
	w.Key("leaf")
	w.Hex(c.Leaf[:])
	if c.counts() {
		w.Key("rule")
		w.Uint(uint64(c.Rule))
	}
	w.Key("seq")
	w.Uint(uint64(c.Seq))
	if c.counts() {
		w.Key("setting")
		w.Uint(uint64(c.Setting))
		w.Key("standing")
		w.String(c.Standing.String())
	}
	if leafType != "" {
		w.Key("type")
		w.String(leafType)
	}
	w.EndObject()
}

// counts reports whether the candidate has a standing.
func (c *Candidate) counts() bool { return c.Looked && c.Kind != KindFact }

func (c *Candidate) hash() dag.Digest {
	return slice.HashLeaf(func(w *canon.Writer) { c.write(w, "candidate") })
}

func readCandidate(c *canon.Cursor, counted bool) Candidate {
	x := Candidate{
		Kind: canon.Parsed(c.Field("kind"), parseKind), Leaf: canon.Parsed(c.Field("leaf"), dag.ParseDigest),
		Seq: dag.Seq(c.Field("seq").Uint(uint64(dag.MaxSeq))), Cost: int(c.Field("cost").Uint(dag.MaxContent)),
	}
	id := c.Field("id")
	switch x.Kind {
	case KindBelief:
		x.ID = canon.Parsed(id, parseRevision).String()
	case KindFact:
		x.ID = canon.Parsed(id, dag.ParseDigest).String()
	default:
		x.ID = canon.Parsed(id, dag.ParseTurnID).String()
	}
	f := c.Field("features")
	for i, name := range features {
		if !counted && since(name) > 1 {
			continue
		}
		if v := f.Optional(name); v != nil {
			x.Features[i] = dag.PPM(v.Uint(uint64(dag.One)))
		}
	}
	f.Close()
	for _, from := range c.Field("from").Items() {
		s := canon.Parsed(from, parseSource)
		if !counted && since(s.String()) > 1 {
			from.Failf("%.40q is not a source of candidates of %s", s, SchemaVersion)
		}
		x.From[s] = true
	}
	if f := c.Optional("block"); f != nil && counted {
		x.Looked, x.Block = true, int(f.Uint(dag.MaxContent))
	}
	if x.counts() {
		x.Standing = canon.Parsed(c.Field("standing"), dag.ParseStanding)
		x.Rule, x.Setting = uint16(c.Field("rule").Uint(standing.MaxRules)), uint16(c.Field("setting").Uint(LimitSettings-1))
	}
	if f := c.Optional("excerpt"); f != nil && counted {
		x.Excerpt = readExcerpt(f)
	}
	c.Close()
	return x
}

func parseKind(s string) (Kind, error) {
	if k := Kind(s); k == KindBelief || k == KindFact || k == KindTurn {
		return k, nil
	}
	return "", fmt.Errorf("%.40q, want %s, %s or %s", s, KindBelief, KindFact, KindTurn)
}

// parseRevision reads the address of a revision.
func parseRevision(s string) (belief.Address, error) {
	a, err := belief.ParseAddress(s)
	if err == nil && a != (belief.Address{Item: a.Item, Revision: max(a.Revision, 1)}) {
		err = fmt.Errorf("%w: %.200q, want the address of an item with ?r= and the number of a revision", belief.ErrForm, s)
	}
	return a, err
}

func parseSource(s string) (Source, error) {
	for i, name := range sources {
		if s == name {
			return Source(i), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a source of candidates", s)
}
