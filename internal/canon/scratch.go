package canon

// Within parses a text as ParseSparse does, and calls read with the top of the document. The
// memory of its cursors and values is used again: read keeps none of them, only strings.
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

// A scratch is what reading a text takes beside the text.
type scratch struct {
	parser   parser
	document document
}

// spare holds what is not in use. A sync.Pool keeps one for each processor, and who reads a
// text on one often goes on on another.
var spare = make(chan *scratch, 4)

func take() *scratch {
	select {
	case s := <-spare:
		return s
	default:
		return new(scratch)
	}
}

// leave forgets the text, and keeps the rooms for the next one.
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

// most is how many things a room keeps a place for.
const most = 1 << 14

func emptied[T any](things []T) []T {
	if cap(things) > most {
		return nil
	}
	clear(things)
	return things[:0]
}

// emptied returns a room in which all that was in this one has a place, up to a bound.
func (r *room[T]) emptied() room[T] {
	if all := r.before + len(r.things); all > cap(r.things) && all <= most {
		return room[T]{things: make([]T, 0, all+all/8)}
	}
	return room[T]{things: emptied(r.things)}
}
