package ingest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// AppendLine appends a draft as a line of the project's own format: canonical JSON and a line feed. Fields that the draft lacks
// (phase, salience, salt) are missing in the line. A draft that [ReadLine] would refuse is an error, and AppendLine then
// returns dst unchanged.
func AppendLine(dst []byte, d *dag.Draft) ([]byte, error) {
	if err := checkDraft(d); err != nil {
		return dst, err
	}
	w := canon.NewWriter(dst)
	var buf [64]byte
	w.BeginObject()
	if !d.Redacted {
		w.Key("attrs")
		w.BeginObject()
		if len(d.Attrs) > 0 {
			for _, key := range slices.Sorted(maps.Keys(d.Attrs)) {
				w.Key(key)
				w.String(d.Attrs[key])
			}
		}
		w.EndObject()
		w.Key("author")
		w.String(d.Author)
	} else {
		w.Key("body_digest")
		w.Hex(d.BodyDigest[:])
	}
	if !d.Redacted {
		w.Key("content")
		w.String(d.Content)
	}
	w.Key("conversation")
	w.Text(d.Conversation.AppendText(buf[:0]))
	w.Key("created_at")
	w.Text(d.CreatedAt.AppendText(buf[:0]))
	w.Key("id")
	w.Text(d.ID.AppendText(buf[:0]))
	w.Key("parents")
	w.BeginArray()
	for i := range d.Parents {
		w.BeginObject()
		w.Key("id")
		w.Text(d.Parents[i].ID.AppendText(buf[:0]))
		w.Key("kind")
		w.String(d.Parents[i].Kind.String())
		w.EndObject()
	}
	w.EndArray()
	if d.Phase != 0 {
		w.Key("phase")
		w.String(d.Phase.String())
	}
	if d.Redacted {
		w.Key("redacted")
		w.Bool(true)
	}
	w.Key("role")
	w.String(d.Role.String())
	if d.HasSalience {
		w.Key("salience")
		w.Raw(d.Salience.AppendDecimal(buf[:0]))
	}
	if d.Salt != nil {
		w.Key("salt")
		w.Hex(d.Salt[:])
	}
	w.EndObject()
	return append(w.Bytes, '\n'), nil
}

// ReadLine reads a line of the project's own format:
//
//	{"id","conversation","parents":[{"id","kind"}],"role","phase"?,"salience"?,
//	 "author","created_at","content","salt"?,"attrs"}
//
// Times are any RFC 3339, and salience is any number that is exactly a [dag.PPM]. parents and attrs may be omitted if they are
// empty. Without a phase, a salience or a salt the draft has none. A turn whose body is withheld or erased has "redacted":true
// and "body_digest" in place of author, content, attrs and salt; its phase and salience are required, since they cannot be
// derived without the text. An unknown field is an error. ReadLine returns the draft from a line that AppendLine wrote.
func ReadLine(line []byte) (dag.Draft, error) {
	v, err := canon.Parse(line)
	if err != nil {
		return dag.Draft{}, err
	}
	return decodeLine(v)
}

// ReadValue is ReadLine for a line that is already parsed, such as one turn of a batch.
func ReadValue(v *canon.Value) (dag.Draft, error) { return decodeLine(v) }

// Bits for the fields of a line, to determine which fields are missing and which are present.
const (
	hasAttrs = 1 << iota
	hasAuthor
	hasDigest
	hasContent
	hasConversation
	hasCreated
	hasID
	hasParents
	hasPhase
	hasRedacted
	hasRole
	hasSalience
	hasSalt
)

// lineFields lists the fields in the order in which missing ones are reported.
var lineFields = [...]struct {
	bit  int
	name string
}{
	{hasID, "id"}, {hasConversation, "conversation"}, {hasRole, "role"}, {hasCreated, "created_at"},
	{hasAuthor, "author"}, {hasContent, "content"}, {hasAttrs, "attrs"}, {hasSalt, "salt"},
	{hasPhase, "phase"}, {hasSalience, "salience"}, {hasDigest, "body_digest"}, {hasRedacted, "redacted"},
}

// decodeLine reads the members directly, without a canon.Cursor, since it is the inner loop of every import and every restore.
func decodeLine(v *canon.Value) (dag.Draft, error) {
	var d dag.Draft
	if v.Kind != canon.Object {
		return d, fmt.Errorf("want an object, got %s", v.Kind)
	}
	given := 0
	for i := range v.Members {
		bit, err := decodeField(&d, v.Members[i].Key, &v.Members[i].Value)
		if err != nil {
			return dag.Draft{}, err
		}
		given |= bit
	}
	required, refused := hasID|hasConversation|hasRole|hasCreated, 0
	if d.Redacted {
		required |= hasDigest | hasPhase | hasSalience
		refused = hasAuthor | hasContent | hasAttrs | hasSalt
	} else {
		required |= hasAuthor | hasContent
		refused = hasDigest
	}
	for _, f := range lineFields {
		switch {
		case required&^given&f.bit != 0:
			return dag.Draft{}, fmt.Errorf("%q is missing", f.name)
		case refused&given&f.bit != 0 && d.Redacted:
			return dag.Draft{}, fmt.Errorf("%q is in a redacted line, which has no body", f.name)
		case refused&given&f.bit != 0:
			return dag.Draft{}, fmt.Errorf("%q is in a line without \"redacted\":true", f.name)
		}
	}
	if err := checkDraft(&d); err != nil {
		return dag.Draft{}, err
	}
	return d, nil
}

func decodeField(d *dag.Draft, key string, v *canon.Value) (bit int, err error) {
	want := canon.String
	switch key {
	case "id":
		bit = hasID
		if v.Kind == want {
			d.ID, err = dag.AnyCase(dag.ParseTurnID)(v.Text)
		}
	case "conversation":
		bit = hasConversation
		if v.Kind == want {
			d.Conversation, err = dag.AnyCase(dag.ParseConversationID)(v.Text)
		}
	case "role":
		bit = hasRole
		if v.Kind == want {
			d.Role, err = dag.ParseRole(v.Text)
		}
	case "phase":
		bit = hasPhase
		if v.Kind == want {
			d.Phase, err = dag.ParsePhase(v.Text)
		}
	case "salience":
		bit, want = hasSalience, canon.Number
		if v.Kind == want {
			d.Salience, err = dag.ReadPPM(v.Text)
			d.HasSalience = true
		}
	case "author":
		bit = hasAuthor
		d.Author = v.Text
	case "created_at":
		bit = hasCreated
		if v.Kind == want {
			d.CreatedAt, err = dag.ReadTime(v.Text)
		}
	case "content":
		bit = hasContent
		d.Content = v.Text
	case "salt":
		bit = hasSalt
		if v.Kind == want {
			d.Salt = new(dag.Salt)
			*d.Salt, err = dag.ParseSalt(v.Text)
		}
	case "body_digest":
		bit = hasDigest
		if v.Kind == want {
			d.BodyDigest, err = dag.AnyCase(dag.ParseDigest)(v.Text)
		}
	case "redacted":
		bit, want = hasRedacted, canon.Bool
		if v.Kind == want && v.Text != "true" {
			err = errors.New("want true: a line that is not redacted leaves the field out")
		}
		d.Redacted = true
	case "attrs":
		bit, want = hasAttrs, canon.Object
		if v.Kind == want {
			d.Attrs, err = decodeAttrs(v)
		}
	case "parents":
		bit, want = hasParents, canon.Array
		if v.Kind == want {
			d.Parents, err = decodeParents(v)
		}
	default:
		return 0, fmt.Errorf("unknown field %q", clip(key))
	}
	if v.Kind != want {
		err = fmt.Errorf("want %s, got %s", want, v.Kind)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return bit, nil
}

func decodeAttrs(v *canon.Value) (map[string]string, error) {
	if len(v.Members) == 0 {
		return nil, nil
	}
	if len(v.Members) > dag.MaxAttrs {
		return nil, fmt.Errorf("%w: %d attrs, at most %d", dag.ErrForm, len(v.Members), dag.MaxAttrs)
	}
	attrs := make(map[string]string, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		if m.Value.Kind != canon.String {
			return nil, fmt.Errorf("%q: want %s, got %s", clip(m.Key), canon.String, m.Value.Kind)
		}
		attrs[m.Key] = m.Value.Text
	}
	return attrs, nil
}

func decodeParents(v *canon.Value) ([]dag.Parent, error) {
	if len(v.Items) == 0 {
		return nil, nil
	}
	if len(v.Items) > dag.MaxParents {
		return nil, fmt.Errorf("%w: %d parents, at most %d", dag.ErrForm, len(v.Items), dag.MaxParents)
	}
	parents := make([]dag.Parent, len(v.Items))
	for i := range v.Items {
		if err := decodeParent(&parents[i], &v.Items[i]); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return parents, nil
}

func decodeParent(p *dag.Parent, v *canon.Value) (err error) {
	if v.Kind != canon.Object {
		return fmt.Errorf("want an object, got %s", v.Kind)
	}
	var id, kind bool
	for i := range v.Members {
		m := &v.Members[i]
		switch {
		case m.Key != "id" && m.Key != "kind":
			return fmt.Errorf("unknown field %q", clip(m.Key))
		case m.Value.Kind != canon.String:
			return fmt.Errorf("%s: want %s, got %s", m.Key, canon.String, m.Value.Kind)
		case m.Key == "id":
			id = true
			p.ID, err = dag.AnyCase(dag.ParseTurnID)(m.Value.Text)
		default:
			kind = true
			p.Kind, err = dag.ParseEdgeKind(m.Value.Text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	if !id {
		return errors.New(`"id" is missing`)
	}
	if !kind {
		return errors.New(`"kind" is missing`)
	}
	return nil
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
