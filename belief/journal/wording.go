package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/said"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Wording maps literals to their names as people wrote them. It lacks literals whose names were written in the canonical form. The kernel
// compares and signs canonical names, and shows the wording to people.
//
// The wording of a revision is the second line of its private half:
// {"digest":HEX,"written":[{"object","predicate","subject","written":{…}},…]}, by ascending literal. The public half has the digest of the
// first line only, and evidence includes only the first line. So the wording is erased with the private half, and no evidence and no leaf
// contains it. Its digest is the SHA-256 of the salt and the list, which detects damage.
type Wording map[belief.Literal]knowledge.Written

type wireWorded struct {
	Not       bool        `json:"not,omitempty"`
	Object    string      `json:"object"`
	Predicate string      `json:"predicate"`
	Subject   string      `json:"subject"`
	Written   wireWritten `json:"written"`
}

type wireWritten struct {
	Object    string `json:"object,omitempty"`
	Predicate string `json:"predicate,omitempty"`
	Subject   string `json:"subject,omitempty"`
}

type wireWording struct {
	Digest  dag.Digest   `json:"digest"`
	Written []wireWorded `json:"written"`
}

// With returns the union of two wordings. For a literal in both, the names of other are used.
func (w Wording) With(other Wording) Wording {
	if len(w) == 0 {
		return other
	}
	all := make(Wording, len(w)+len(other))
	for _, of := range [...]Wording{w, other} {
		for l, written := range of {
			all[l] = written
		}
	}
	return all
}

// Worded returns the wording of the literals of some elements. If several revisions have a literal, the newest one decides.
func Worded(parts iter.Seq[Part]) Wording {
	all, newest := Wording{}, map[belief.Literal]dag.Seq{}
	for p := range parts {
		if len(p.Revision.Wording) == 0 {
			continue
		}
		s := p.Stated()
		for _, l := range append(slices.Clip(s.Premises), s.Literal) {
			if written, ok := p.Revision.Wording[l]; ok && newest[l] <= p.Revision.Seq {
				all[l], newest[l] = written, p.Revision.Seq
			}
		}
	}
	return all
}

// without returns the wording except some literals.
func (w Wording) without(literals []belief.Literal) Wording {
	if len(w) == 0 {
		return nil
	}
	rest := maps.Clone(w)
	for _, l := range literals {
		delete(rest, l)
	}
	return rest
}

// of returns the wording of some literals in the form in which it is stored.
func (w Wording) of(literals []belief.Literal) []wireWorded {
	if len(w) == 0 {
		return nil
	}
	literals = slices.Clone(literals)
	slices.SortFunc(literals, belief.Literal.Compare)
	var list []wireWorded
	for _, l := range slices.Compact(literals) {
		if written := w[l]; written != (knowledge.Written{}) && !said.Is(l) {
			list = append(list, wireWorded{l.Not, l.Object, l.Predicate, l.Subject, wireWritten{written.Object, written.Predicate, written.Subject}})
		}
	}
	return list
}

func readWording(list []wireWorded) Wording {
	if len(list) == 0 {
		return nil
	}
	w := make(Wording, len(list))
	for i := range list {
		one := &list[i]
		w[belief.Literal{Subject: one.Subject, Predicate: one.Predicate, Object: one.Object, Not: one.Not}] =
			knowledge.Written{Subject: one.Written.Subject, Predicate: one.Written.Predicate, Object: one.Written.Object}
	}
	return w
}

// saying returns the wording with the text for the statement of a text among some literals. The text is recorded once, and not in the
// wording.
func (w Wording) saying(text string, literals []belief.Literal) Wording {
	for _, l := range literals {
		if text != "" && said.Is(l) {
			w = w.With(Wording{l: {Subject: text}})
		}
	}
	return w
}

// Check refuses a wording with a name that is canonical already, too long or not UTF-8.
func (w Wording) Check() error {
	for l, written := range w {
		for _, n := range [...]struct{ what, name, written string }{{"subject", l.Subject, written.Subject}, {"predicate", l.Predicate, written.Predicate}, {"object", l.Object, written.Object}} {
			if n.written != "" && n.written == n.name || len(n.written) > normalize.MaxText || !utf8.ValidString(n.written) {
				return fmt.Errorf("%w: the %s %.80q has the written form %.80q of %d bytes; want a different spelling of the same name with at most %d bytes of UTF-8", belief.ErrForm, n.what, n.name, n.written, len(n.written), normalize.MaxText)
			}
		}
	}
	return nil
}

// literals returns the literals that a revision states, and the premises of its rules.
func (r *Revision) literals() (list []belief.Literal) {
	for i := range r.Statements {
		list = append(append(list, r.Statements[i].Literal), r.Statements[i].Premises...)
	}
	return list
}

// worded returns the second line of the private half, nil if all names were written in the canonical form.
func (r *Revision) worded() []byte {
	list := r.Wording.of(r.literals())
	if len(list) == 0 {
		return nil
	}
	return canonical(wireWording{wordingDigest(r.Salt, list), list})
}

func wordingDigest(salt dag.Salt, list []wireWorded) dag.Digest {
	return sha256.Sum256(append(slices.Clone(salt[:]), canonical(list)...))
}

// splitPrivate splits the private half of a revision into the first line, which evidence includes, and the wording, if there is any.
func splitPrivate(private []byte) (says, worded []byte) {
	if private == nil {
		return nil, nil
	}
	says, worded, _ = bytes.Cut(private, []byte{'\n'})
	return says, worded
}

// readWorded reads the second line of the private half.
func (r *Revision) readWorded(worded []byte) error {
	if worded == nil {
		return nil
	}
	var w wireWording
	if err := read(worded, &w); err != nil {
		return err
	}
	if w.Digest != wordingDigest(r.Salt, w.Written) {
		return fmt.Errorf("%w: number %d: %w", dag.ErrForm, r.Seq, errWording)
	}
	r.Wording = readWording(w.Written)
	return nil
}

var errWording = errors.New("the stored spelling of its names is damaged")
