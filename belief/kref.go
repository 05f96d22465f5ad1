package belief

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// scheme begins every address.
const scheme = "kref://"

// MaxSegments bounds the segments of an item's address, including the project and the name.
const MaxSegments = 8

var (
	segment = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	kindOf  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
)

// A Space is the path of a project and spaces in it, such as "acme/support". Only elements of one space can conflict.
type Space string

// General is the space of the memories of no project.
const General Space = projects + "general"

const projects = "projects/"

// OfProject reports whether the space has the memories of a project, or of none.
func (s Space) OfProject() bool { return strings.HasPrefix(string(s), projects) }

// ParseSpace reads a space in its only spelling.
func ParseSpace(s string) (Space, error) {
	parts := strings.Split(s, "/")
	if len(parts) >= MaxSegments {
		return "", fmt.Errorf("%w: the space %.80q has %d segments, at most %d", ErrForm, s, len(parts), MaxSegments-1)
	}
	for _, p := range parts {
		if !segment.MatchString(p) {
			return "", fmt.Errorf("%w: the space %.80q: segment %.80q, want [a-z0-9][a-z0-9._-]{0,63}", ErrForm, s, p)
		}
	}
	return Space(s), nil
}

// Path returns the address without its scheme.
func (i Item) Path() string { return strings.TrimPrefix(string(i), scheme) }

// An Item is the address of an item without a query: kref://PROJECT/SPACE…/NAME.KIND.
type Item string

// ParseItem reads an item's address in its only spelling.
func ParseItem(s string) (Item, error) {
	rest, ok := strings.CutPrefix(s, scheme)
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return "", fmt.Errorf("%w: the address %.80q, want kref://PROJECT/SPACE/NAME.KIND", ErrForm, s)
	}
	if item, _, more := strings.Cut(s, "?"); more {
		return "", fmt.Errorf("%w: the address %.200q names more than an item; use %.200s", ErrForm, s, item)
	}
	if _, err := ParseSpace(rest[:at]); err != nil {
		return "", fmt.Errorf("the address %.80q: %w", s, err)
	}
	return NewItem(Space(rest[:at]), rest[at+1:])
}

// NewItem returns the address of the item called NAME.KIND in a space.
func NewItem(s Space, name string) (Item, error) {
	dot := strings.LastIndexByte(name, '.')
	if !segment.MatchString(name) || dot <= 0 || !kindOf.MatchString(name[dot+1:]) {
		return "", fmt.Errorf("%w: the name of the item is %.80q, want NAME.KIND with [a-z0-9][a-z0-9._-]{0,63} and the kind [a-z][a-z0-9_-]{0,31}", ErrForm, name)
	}
	return Item(scheme + string(s) + "/" + name), nil
}

// Space returns the space that the item is in.
func (i Item) Space() Space {
	return Space(i[len(scheme):strings.LastIndexByte(string(i), '/')])
}

// Name returns the item's name in its space: NAME.KIND.
func (i Item) Name() string { return string(i[strings.LastIndexByte(string(i), '/')+1:]) }

// Kind returns the kind of the item.
func (i Item) Kind() string { return string(i[strings.LastIndexByte(string(i), '.')+1:]) }

// An Address names an item, a revision of it, or an artifact of a revision. At most one of Revision and Tag is set, and at most one of
// At and Seq.
type Address struct {
	Item     Item
	Revision int      // ?r=3; 0: none
	Tag      string   // ?t=published; "": none, so the tag current if there is no Revision
	At       dag.Time // &at=TIME: the state at this time; 0: none
	Seq      dag.Seq  // &seq=812: the state as of this number; 0: none
	Artifact string   // &a=NAME: an artifact of the revision; "": the revision itself
}

// IsAddress reports whether a text begins like an address. The address may be malformed.
func IsAddress(s string) bool { return strings.HasPrefix(s, scheme) }

// An Artifact is a pointer from a revision to content that is kept elsewhere.
type Artifact struct {
	Name      string     `json:"name" is:"ArtifactName"`
	Location  string     `json:"location" is:"ArtifactLocation"`
	MediaType string     `json:"media_type" is:"MediaType"`
	Size      int64      `json:"size" is:"0.." doc:"Bytes."`
	SHA256    dag.Digest `json:"sha256" doc:"Of the content."`
}

// IsArtifact reports whether a name can be the name of an artifact.
func IsArtifact(s string) bool { return segment.MatchString(s) }

// IsTag reports whether a name can be a tag.
func IsTag(s string) bool { return kindOf.MatchString(s) }

// String returns the only spelling of the address.
func (a Address) String() string {
	var query []string
	switch {
	case a.Revision != 0:
		query = append(query, "r="+strconv.Itoa(a.Revision))
	case a.Tag != "":
		query = append(query, "t="+a.Tag)
	}
	switch {
	case a.At != 0:
		query = append(query, "at="+a.At.String())
	case a.Seq != 0:
		query = append(query, "seq="+strconv.FormatUint(uint64(a.Seq), 10))
	}
	if a.Artifact != "" {
		query = append(query, "a="+a.Artifact)
	}
	if len(query) == 0 {
		return string(a.Item)
	}
	return string(a.Item) + "?" + strings.Join(query, "&")
}

// ParseAddress reads an address in its only spelling.
func ParseAddress(s string) (a Address, err error) {
	item, query, _ := strings.Cut(s, "?")
	if a.Item, err = ParseItem(item); err != nil {
		return Address{}, err
	}
	for _, part := range strings.Split(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "":
		case "r":
			a.Revision, err = strconv.Atoi(value)
		case "t":
			if a.Tag = value; !IsTag(value) {
				err = fmt.Errorf("the tag %.80q, want [a-z][a-z0-9_-]{0,31}", value)
			}
		case "at":
			a.At, err = dag.ParseTime(value)
		case "seq":
			var n uint64
			n, err = strconv.ParseUint(value, 10, 53)
			a.Seq = dag.Seq(n)
		case "a":
			if a.Artifact = value; !IsArtifact(value) {
				err = fmt.Errorf("the artifact %.80q, want [a-z0-9][a-z0-9._-]{0,63}", value)
			}
		default:
			err = fmt.Errorf("%.20q is not known; want r=, t=, at=, seq= or a=", key)
		}
		if err != nil {
			return Address{}, fmt.Errorf("%w: the address %.200q: %w", ErrForm, s, err)
		}
	}
	if a.Revision < 0 || a.String() != s {
		return Address{}, fmt.Errorf("%w: the address %.200q is not in its only spelling, %.200q", ErrForm, s, a.String())
	}
	return a, nil
}

// A Key represents an address, a space or a slot in the keys of indexes. It is the first 16 bytes of a SHA-256.
type Key [16]byte

// KeyOf returns the key of a name. Names of different kinds have different keys.
func KeyOf(kind, name string) Key {
	digest := sha256.Sum256([]byte(kind + "\x00" + name))
	return Key(digest[:len(Key{})])
}

// Key returns the key of the item.
func (i Item) Key() Key { return KeyOf("item", string(i)) }

// Key returns the key of the space.
func (s Space) Key() Key { return KeyOf("space", string(s)) }

// Key returns the key of the slot. It is a digest, since names may have to be erased.
func (s Slot) Key() Key { return KeyOf("slot", s.Subject+"\x00"+s.Predicate) }
