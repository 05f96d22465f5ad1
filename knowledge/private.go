package knowledge

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Decision contains, in numbers alone, what recording an act did to versions. It is stored with the act but not in
// its leaf, and stays when the act is erased: the consequences of the remaining acts are known without the erased one.
type Decision struct {
	Under  dag.Seq   // of an assertion: the version in which its statement was believed already; 0: it was not believed
	Opened dag.Seq   // of an assertion that began a version: Recorded.Opened; else 0
	Ended  []dag.Seq // the versions that it ended: those of Act.Supersedes in their order, then that of its own statement
}

// append writes a decision as the detail of an entry: nothing if the act ended and began no version, else varints.
func (d *Decision) append(dst []byte) []byte {
	if d.Under == 0 && d.Opened == 0 && len(d.Ended) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(d.Under))
	dst = binary.AppendUvarint(dst, uint64(d.Opened))
	for _, seq := range d.Ended {
		dst = binary.AppendUvarint(dst, uint64(seq))
	}
	return dst
}

func readDecision(detail []byte) (d Decision, err error) {
	if len(detail) == 0 {
		return d, nil
	}
	r := reader{rest: detail}
	d.Under, d.Opened = dag.Seq(r.uvarint()), dag.Seq(r.uvarint())
	for len(r.rest) > 0 {
		d.Ended = append(d.Ended, dag.Seq(r.uvarint()))
	}
	if r.short || string(d.append(nil)) != string(detail) {
		return Decision{}, fmt.Errorf("%w: the detail %x is malformed", ErrForm, detail)
	}
	return d, nil
}

// appendPrivate writes the erasable half of an act, packed: the salt, and all of the act's content except its kind.
func (a *Act) appendPrivate(dst []byte) []byte {
	dst = append(dst, a.Salt[:]...)
	switch a.Kind {
	case Retract:
		return append(append(dst, a.Statement[:]...), a.Reason...)
	case Alias, Unalias:
		return appendTexts(append(dst, byte(a.Rule)), a.Alias, a.Canonical)
	}
	f := &a.Fact
	dst = append(dst, byte(f.Rule))
	for _, n := range [...]uint64{uint64(f.Confidence), uint64(f.From), uint64(Forever - f.Until)} {
		dst = binary.AppendUvarint(dst, n)
	}
	if f.Turn == (dag.TurnID{}) {
		dst = append(dst, 0)
	} else {
		dst = append(append(dst, 1), f.Turn[:]...)
	}
	dst = appendTexts(dst, f.Subject, f.Predicate, f.Object, f.Source, f.Slice, f.Written.Subject, f.Written.Predicate, f.Written.Object)
	for i := range a.Supersedes {
		dst = append(dst, a.Supersedes[i][:]...)
	}
	return dst
}

func appendTexts(dst []byte, texts ...string) []byte {
	for _, s := range texts {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return dst
}

var errPacked = errors.New("its private half is damaged")

// readPrivate parses the output of appendPrivate. It checks only lengths.
func readPrivate(kind Kind, data []byte) (a Act, err error) {
	r := reader{rest: data}
	a.Kind = kind
	copy(a.Salt[:], r.take(len(a.Salt)))
	switch kind {
	case Retract:
		copy(a.Statement[:], r.take(len(a.Statement)))
		a.Reason = string(r.rest)
	case Alias, Unalias:
		a.Rule = normalize.Rule(r.take(1)[0])
		a.Alias, a.Canonical = r.text(), r.text()
		r.end()
	default:
		f := &a.Fact
		f.Rule = normalize.Rule(r.take(1)[0])
		f.Confidence, f.From, f.Until = dag.PPM(r.uvarint()), dag.Time(r.uvarint()), Forever-dag.Time(r.uvarint())
		if r.take(1)[0] == 1 {
			copy(f.Turn[:], r.take(len(f.Turn)))
		}
		f.Subject, f.Predicate, f.Object, f.Source, f.Slice = r.text(), r.text(), r.text(), r.text(), r.text()
		f.Written = Written{r.text(), r.text(), r.text()}
		for len(r.rest) > 0 {
			a.Supersedes = append(a.Supersedes, ID(r.take(len(ID{}))))
		}
	}
	if r.short {
		return Act{}, errPacked
	}
	return a, nil
}

// Entry returns the entry of a recorded act.
func (r *Recorded) Entry() history.Entry {
	return history.Entry{
		Seq: r.Seq, Kind: history.Kind(types[r.Act.Kind]), At: r.At,
		Public: r.Act.AppendPublic(nil), Detail: r.Did.append(nil), Private: r.Act.appendPrivate(nil),
	}
}

// FromEntry parses the entry of an act, and checks that its halves belong together. Until and Opened stay zero: they follow from terms.
func FromEntry(e *history.Entry) (Recorded, error) {
	r := Recorded{Seq: e.Seq, At: e.At, Leaf: e.Leaf(), Erased: e.Private == nil}
	public, digest, err := readPublic(e.Public)
	if err == nil && history.Kind(types[public.Kind]) != e.Kind {
		err = fmt.Errorf("%w: an entry of kind %s has an act of type %s", ErrForm, e.Kind, types[public.Kind])
	}
	if err == nil {
		r.Did, err = readDecision(e.Detail)
	}
	if r.Act = public; err == nil && r.Erased && (public.Kind != Assert || public.Fact.Turn == dag.TurnID{}) {
		err = fmt.Errorf("its private half is missing, although an erasure cannot remove it")
	}
	if err == nil && !r.Erased {
		if r.Act, err = readPrivate(public.Kind, e.Private); err == nil && string(r.Act.AppendPublic(nil)) != string(e.Public) {
			err = fmt.Errorf("its private half does not match the public half, which has the digest %s", digest)
		}
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("number %d is damaged: %w", e.Seq, err)
	}
	return r, nil
}
