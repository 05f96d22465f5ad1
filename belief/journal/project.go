package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief/said"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A believed positive statement that is not a rule is projected: it becomes an assertion of package knowledge, so traversals and slices of
// facts see it. The assertions that an entry begins have the numbers after its own, in the order of the statements; the assertions that it
// ends are retracted under the numbers before it. So the number of a statement's assertion need not be recorded, unless an earlier revision
// began the assertion and it was not interrupted.

// projects reports whether the statement is projected. The statement of a text is not.
func (s *Stated) projects() bool { return !s.Not && s.Premises == nil && !said.Is(s.Literal) }

// A projection is the assertion of a statement.
type projection struct {
	at     int // in Revision.Statements
	number dag.Seq
}

// projected returns the assertions of the item's believed statements.
func (s *itemState) projected() (list []projection) {
	since := s.live()
	if since == 0 {
		return nil
	}
	next := since
	for i := range s.current.Statements {
		switch st := &s.current.Statements[i]; {
		case !st.projects():
		case since == s.current.Seq && st.Fact != 0:
			list = append(list, projection{i, st.Fact})
		default:
			next++
			list = append(list, projection{i, next})
		}
	}
	return list
}

// fact returns the fact that a statement of a revision is projected to.
func (r *Revision) fact(at int, turn dag.TurnID) knowledge.Fact {
	s := &r.Statements[at]
	return knowledge.Fact{
		Statement: knowledge.Statement{Subject: s.Subject, Predicate: s.Predicate, Object: s.Object, From: s.Span.From, Until: s.Span.Until},
		Rule:      normalize.Newest, Confidence: r.Confidence, Source: knowledge.HeldSource(r.Item.Path(), r.Number), Turn: turn,
	}
}

// evidence returns the turn that the assertion of a statement names: the statement's first turn that still has its text; zero if none has.
func (s *Stated) evidence(k *history.State) dag.TurnID {
	for _, t := range s.Turns {
		if k.Turns[t].Body {
			return t
		}
	}
	return dag.TurnID{}
}

// keep lets assertions of the current revision go on in the next revision if their statements, turns and confidence stay the
// same.
func (s *itemState) keep(next *Revision) {
	for i := range next.Statements {
		next.Statements[i].Fact = 0
	}
	if s.live() == 0 || !next.Current || next.Confidence != s.current.Confidence {
		return
	}
	for _, p := range s.projected() {
		was := &s.current.Statements[p.at]
		for i := range next.Statements {
			if now := &next.Statements[i]; now.projects() && now.Literal == was.Literal && now.Span == was.Span && slices.Equal(now.Turns, was.Turns) {
				now.Fact = p.number
			}
		}
	}
}

// ending returns the assertions that end when next becomes the current revision of the item; nil is no current revision.
func (s *itemState) ending(next *Revision) (list []knowledge.Holding) {
	for _, p := range s.projected() {
		kept := next != nil && slices.ContainsFunc(next.Statements, func(n Stated) bool { return n.Fact == p.number })
		if !kept {
			list = append(list, knowledge.Holding{Since: p.number, Fact: s.current.fact(p.at, dag.TurnID{})})
		}
	}
	return list
}

// salts derives n salts for assertions or retractions from a salt.
func salts(of dag.Salt, what string, n int) []dag.Salt {
	list := make([]dag.Salt, n)
	for i := range list {
		digest := sha256.Sum256(binary.BigEndian.AppendUint32(append([]byte(what), of[:]...), uint32(i)))
		list[i] = dag.Salt(digest[:len(dag.Salt{})])
	}
	return list
}

// retract adds retractions of assertions, numbered from head+1 on, and returns the new head.
func (f *folding) retract(list []knowledge.Holding, salt dag.Salt, reason string, head dag.Seq, at dag.Time) (dag.Seq, error) {
	if len(list) == 0 {
		return head, nil
	}
	p, err := knowledge.Retractions(list, salts(salt, "retract", len(list)), cut(reason), head, at)
	if err != nil {
		return head, err
	}
	f.join(p)
	return p.Head(head), nil
}

// assert adds the item's assertions that are numbered above head, and returns the new head.
func (f *folding) assert(k *history.State, s *itemState, salt dag.Salt, head dag.Seq, at dag.Time) (dag.Seq, error) {
	var list []knowledge.Holding
	for _, p := range s.projected() {
		if p.number <= head {
			continue
		}
		if p.number != head+dag.Seq(len(list))+1 {
			return head, fmt.Errorf("%w: statement %d of revision %d of %s is projected by number %d, which does not follow number %d", dag.ErrForm, p.at+1, s.current.Number, s.current.Item, p.number, head)
		}
		list = append(list, knowledge.Holding{Since: p.number, Fact: s.current.fact(p.at, s.current.Statements[p.at].evidence(k))})
	}
	if len(list) == 0 {
		return head, nil
	}
	p, err := knowledge.Assertions(list, salts(salt, "assert", len(list)), head, at)
	if err != nil {
		return head, err
	}
	f.join(p)
	return p.Head(head), nil
}

// join adds the entries and terms of another plan. It may end terms that this plan began.
func (f *folding) join(more *history.Plan) {
	f.plan.Entries = append(f.plan.Entries, more.Entries...)
	for _, t := range more.Begin {
		f.began[termName(t.Index, t.Key, t.Since)] = len(f.plan.Begin)
		f.plan.Begin = append(f.plan.Begin, t)
	}
	for _, e := range more.End {
		f.end(e.Index, e.Key, e.Since, e.Until)
	}
}

// cut shortens a reason to knowledge.MaxReason bytes, the limit of a retraction.
func cut(reason string) string {
	if len(reason) <= knowledge.MaxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:knowledge.MaxReason], "")
}

// know asks for the turns that the statements of a revision rest on, which the method evidence needs.
func (x *exploring) know(n *history.Needs, r *Revision) {
	for i := range r.Statements {
		for _, t := range r.Statements[i].Turns {
			if !x.turns[t] {
				x.turns[t] = true
				n.Turns = append(n.Turns, t)
			}
		}
	}
}
