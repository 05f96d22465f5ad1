package canon

// Within parses a text like ParseSparse, and calls read with a cursor at the top of the document. The memory of cursors and
// values is reused afterwards: read must not keep any of them, except strings.
func Within(text []byte, most int, read func(*Cursor) error) error {
	s := take()
	defer s.leave()
	root, err := s.parser.parse(text, most)
	if err != nil {
		return err
	}
	s.document.root = root
	return read(s.document.cursor(root, ""))
}

// A scratch holds the reusable memory for parsing a text.
type scratch struct {
	parser   parser
	document document
}

// spare holds unused scratches. A sync.Pool would keep one for each processor, and a goroutine often moves to another processor
// while it reads.
var spare = make(chan *scratch, 4)

func take() *scratch {
	select {
	case s := <-spare:
		return s
	default:
		return new(scratch)
	}
}

// leave removes all references to the text, and keeps the memory for the next text.
func (s *scratch) leave() {
	p, d := &s.parser, &s.document
	*p = parser{
		values: emptied(p.values[:cap(p.values)]), members: emptied(p.members[:cap(p.members)]),
		unescaped: p.spareBytes(),
		valueRoom: p.valueRoom.emptied(), memberRoom: p.memberRoom.emptied(),
	}
	*d = document{cursors: d.cursors.emptied()}
	select {
	case spare <- s:
	default:
	}
}

// most is the largest number of things for which a room keeps memory.
const most = 1 << 14

func emptied[T any](things []T) []T {
	if cap(things) > most {
		return nil
	}
	clear(things)
	return things[:0]
}

// emptied returns an empty room with space for everything that r held in all its parts, up to a bound.
func (r *room[T]) emptied() room[T] {
	if all := r.before + len(r.things); all > cap(r.things) && all <= most {
		return room[T]{things: make([]T, 0, all+all/8)}
	}
	return room[T]{things: emptied(r.things)}
}
