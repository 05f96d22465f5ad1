package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// Sizes of the packed forms; see the package documentation.
const (
	skeletonSize = 16 + 8 + 4 + 1 + 1 + 32 + marksSize
	marksSize    = 1 + 1 + 4 + 1 + 1 + 1 // without the things
	thingSize    = 16
	parentSize   = 16 + 16 + 1 + 32
	linkSize     = 16 + 16 + 16
	keptPrefix   = 16 + 32
)

// Kept returns the packed form of everything that remains of a turn for ever, whatever is erased.
func Kept(r *store.Record) []byte {
	b := make([]byte, 0, keptPrefix+skeletonSize+(len(r.Marks.Things)+2)*thingSize+len(r.Parents)*parentSize)
	b = append(b, r.Turn.Conversation[:]...)
	b = append(b, r.Turn.BodyDigest[:]...)
	b = append(b, r.Turn.ID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Turn.CreatedAt))
	b = binary.BigEndian.AppendUint32(b, uint32(r.Turn.Salience))
	b = append(b, byte(r.Turn.Role), byte(r.Turn.Phase))
	b = append(b, r.Leaf[:]...)
	b = appendMarks(b, &r.Marks)
	for i := range r.Parents {
		p := &r.Parents[i]
		b = append(b, p.ID[:]...)
		b = append(b, p.Conversation[:]...)
		b = append(b, byte(p.Kind))
		b = append(b, p.Leaf[:]...)
	}
	return b
}

func appendMarks(b []byte, m *dag.Marks) []byte {
	b = append(b, byte(m.Rules), byte(m.Voice))
	b = binary.BigEndian.AppendUint32(b, m.Cost)
	o := &m.Origin
	named := byte(0)
	if o.Author != (dag.Thing{}) {
		named |= namesAuthor
	}
	if o.Key != (dag.Thing{}) {
		named |= namesKey
	}
	b = append(b, byte(o.Channel), byte(o.Grant)|named, byte(len(m.Things)))
	for i := range m.Things {
		b = append(b, m.Things[i][:]...)
	}
	if named&namesAuthor != 0 {
		b = append(b, o.Author[:]...)
	}
	if named&namesKey != 0 {
		b = append(b, o.Key[:]...)
	}
	return b
}

// Bits beside the grant of an origin: its author and its key follow the things.
const (
	namesAuthor = 1 << 7
	namesKey    = 1 << 6
	grantMask   = namesKey - 1
)

// Skeleton returns the packed skeleton in the result of Kept.
func Skeleton(kept []byte) []byte { return kept[keptPrefix:] }

// ReadKept sets the fields of a record that Kept packed. Seq is set already.
func ReadKept(r *store.Record, b []byte) error {
	if len(b) < keptPrefix {
		return fmt.Errorf("%w: the stored fields of turn %d have only %d bytes", store.ErrDamaged, r.Seq, len(b))
	}
	s := dag.Skeleton{Seq: r.Seq}
	if err := readSkeleton(&s, b[keptPrefix:], &room{}); err != nil {
		return err
	}
	r.Turn = dag.Turn{ID: s.ID, Role: s.Role, Phase: s.Phase, Salience: s.Salience, CreatedAt: s.CreatedAt}
	copy(r.Turn.Conversation[:], b)
	copy(r.Turn.BodyDigest[:], b[16:])
	r.Leaf, r.Marks, r.Parents = s.Leaf, s.Marks, s.Parents
	return nil
}

// A room is memory for the lists of many skeletons, which are placed one after the other.
type room struct {
	parents []dag.SkeletonParent
	things  []dag.Thing
}

// take returns the next n elements of the memory in list. If too few are left, it allocates new memory for at least n.
func take[T any](list *[]T, n int) []T {
	if n == 0 {
		return nil
	}
	if cap(*list)-len(*list) < n {
		*list = make([]T, 0, max(n, min(cap(*list), 64)))
	}
	*list = (*list)[:len(*list)+n]
	return (*list)[len(*list)-n : len(*list) : len(*list)]
}

// readSkeleton sets all fields except Seq and Conversation. It copies b, and places parents and things in the room.
func readSkeleton(s *dag.Skeleton, b []byte, room *room) error {
	things, named := 0, byte(0)
	if len(b) >= skeletonSize {
		things, named = int(b[skeletonSize-1]), b[skeletonSize-2]
	}
	if size := skeletonSize + (things+bits.OnesCount8(named&(namesAuthor|namesKey)))*thingSize; len(b) < size || (len(b)-size)%parentSize != 0 {
		return fmt.Errorf("%w: the skeleton of turn %d has %d bytes", store.ErrDamaged, s.Seq, len(b))
	}
	copy(s.ID[:], b)
	s.CreatedAt = dag.Time(binary.BigEndian.Uint64(b[16:]))
	s.Salience = dag.PPM(binary.BigEndian.Uint32(b[24:]))
	s.Role, s.Phase = dag.Role(b[28]), dag.Phase(b[29])
	copy(s.Leaf[:], b[30:])
	s.Marks.Rules, s.Marks.Voice = dag.MarkRules(b[62]), dag.Voice(b[63])
	s.Marks.Cost = binary.BigEndian.Uint32(b[64:])
	s.Marks.Origin.Channel, s.Marks.Origin.Grant = dag.Channel(b[68]), dag.Grant(named&grantMask)
	b = b[skeletonSize:]
	s.Marks.Things = take(&room.things, things)
	for i := range s.Marks.Things {
		copy(s.Marks.Things[i][:], b)
		b = b[thingSize:]
	}
	if named&namesAuthor != 0 {
		b = b[copy(s.Marks.Origin.Author[:], b):]
	}
	if named&namesKey != 0 {
		b = b[copy(s.Marks.Origin.Key[:], b):]
	}
	if o := &s.Marks.Origin; (named&namesAuthor != 0) != (o.Author != dag.Thing{}) || (named&namesKey != 0) != (o.Key != dag.Thing{}) {
		return fmt.Errorf("%w: the skeleton of turn %d has an author or a key of no bytes, which is written as none", store.ErrDamaged, s.Seq)
	}
	s.Parents = take(&room.parents, len(b)/parentSize)
	for i := range s.Parents {
		p := &s.Parents[i]
		copy(p.ID[:], b)
		copy(p.Conversation[:], b[16:])
		p.Kind = dag.EdgeKind(b[32])
		copy(p.Leaf[:], b[33:])
		b = b[parentSize:]
	}
	return nil
}

// Link returns the packed form of an edge into another conversation, without its sequence number.
func Link(l *dag.Link) []byte {
	b := make([]byte, 0, linkSize)
	b = append(b, l.Parent[:]...)
	b = append(b, l.Child[:]...)
	return append(b, l.ChildConversation[:]...)
}

// ReadLink sets all fields except Seq.
func ReadLink(l *dag.Link, b []byte) error {
	if len(b) != linkSize {
		return fmt.Errorf("%w: a link of turn %d has %d bytes, which is not the size of a link", store.ErrDamaged, l.Seq, len(b))
	}
	copy(l.Parent[:], b)
	copy(l.Child[:], b[16:])
	copy(l.ChildConversation[:], b[32:])
	return nil
}

// withheld is the value of the salt column if a turn's body never came. A body that
// came and is gone leaves no salt, so a loss that no erasure explains can be detected.
var withheld = []byte{0}

// Salt returns the value of a record's salt column; nil is NULL.
func Salt(r *store.Record) []byte {
	switch {
	case r.Body != nil:
		return r.Salt[:]
	case r.Withheld:
		return withheld
	}
	return nil
}

// Key returns the value of the column with the credential that brought a turn; nil is NULL.
func Key(r *store.Record) []byte {
	if r.Key == "" {
		return nil
	}
	return []byte(r.Key)
}

// ReadText sets a record's text from its columns; nil is NULL. It copies them.
func ReadText(r *store.Record, salt, external, body []byte) error {
	if body == nil {
		r.Withheld = bytes.Equal(salt, withheld)
		return nil
	}
	if err := Fill(r.Salt[:], salt, "a salt"); err != nil {
		return err
	}
	r.Body, r.External = append([]byte(nil), body...), string(external)
	return nil
}

// Fill copies a column of a fixed size. Another size is an error that wraps store.ErrDamaged.
func Fill(dst, column []byte, what string) error {
	if len(column) != len(dst) {
		return fmt.Errorf("%w: %s has %d bytes, not %d", store.ErrDamaged, what, len(column), len(dst))
	}
	copy(dst, column)
	return nil
}
