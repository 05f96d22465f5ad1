package slice

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// disclosureType distinguishes a disclosure from other documents with a version.
const disclosureType = "disclosure"

// maxPath is the maximum number of hashes in a path, as in a C2SP tlog-proof.
const maxPath = 63

// A Disclosure is a part of a bundle of any kind that still leads to the bundle's graph_snapshot_hash: some leaves of
// its tree and, for the other leaves, only hashes on the way to the root.
//
// The paths bind the shown leaves. They do not bind the number of leaves: if a path would be the same in a tree of
// another size, or with one more leaf of one section and one fewer of another, Check cannot detect wrong values of
// Counts and Index. AsOf, Bundle, the seal, and slice_id and policy_id of the provenance are also claims that Check
// cannot verify. The token binds the seal and the provenance; an attestation binds all of these except the token and,
// through the counts, every index.
type Disclosure struct {
	claims            // the bundle's claims about itself
	Bundle dag.Digest // SHA-256 of the bundle's bytes as it was issued
	Shown  []Shown    // by ascending index; not empty
	form   *DisclosureForm
}

type claims = Head // embedded under another name because Head is a method

// A Shown is a leaf that a disclosure shows.
type Shown struct {
	Index int          // of the leaf in the tree
	Path  []dag.Digest // from the leaf's sibling to the root's child
	Leaf  Leaf
}

// A Leaf is the content of a leaf of a bundle's tree.
type Leaf interface {
	// Member returns the name of the leaf's section.
	Member() string

	// ID returns an id by which the leaves of a section ascend, without repetitions. It is "" if the section is one leaf.
	ID() string

	// Hash returns the leaf's hash (RFC 6962, section 2.1).
	Hash() dag.Digest

	// Write writes the leaf in the form that disclosures show.
	Write(*canon.Writer)
}

// A Section is a range of leaves of one kind in the tree of a bundle.
type Section struct {
	Member string                   // the member under which a leaf of the section is shown
	Count  string                   // the name of the count with the number of leaves; "": one leaf
	Read   func(*canon.Cursor) Leaf // reads the output of Leaf.Write and closes it; nil: the leaves are never shown
}

// A CountForm describes how disclosures write a count.
type CountForm struct {
	Name string // as in Head.Counts
	Key  string // the key of its member
	Most uint64
}

// A DisclosureForm contains the properties of disclosures of one version of a kind of bundle.
type DisclosureForm struct {
	Version  string                     // of the disclosures
	Schema   string                     // the schema version of the bundles
	Policy   policy.Forms               // of their parameters
	CountsIn string                     // the member that contains the counts; "": they are members of the disclosure
	ShownIn  string                     // the member that contains the shown leaves
	Counts   []CountForm                // by ascending name
	Bound    func(counts []Count) error // checks further limits of the counts; may be nil
	MaxIndex uint64
	Sections []Section // in the order of the tree

	// Check makes the checks of the kind, in the order of those of a whole bundle, including CheckOrder, CheckPolicy and
	// CheckPaths.
	Check func(*Disclosure) []Check

	// Redacted implements Disclosure.Redacted; nil: bundles of the kind contain no texts.
	Redacted func(*Disclosure) []dag.TurnID
}

// size returns the number of leaves of a tree. The counts must have been checked.
func (f *DisclosureForm) size(h *Head) int {
	n := 0
	for _, s := range f.Sections {
		n += s.size(h)
	}
	return n
}

func (s *Section) size(h *Head) int {
	if s.Count == "" {
		return 1
	}
	return int(min(h.Count(s.Count), 1<<30)) // in a Head made by hand it may be any number
}

// at returns the member of the section that contains an index, or "" for an index outside the tree.
func (f *DisclosureForm) at(h *Head, index int) string {
	for _, s := range f.Sections {
		n := s.size(h)
		if index >= 0 && index < n {
			return s.Member
		}
		index -= n
	}
	return ""
}

// checkCounts returns an error if a count exceeds its limit, before the counts are used in a computation.
func (f *DisclosureForm) checkCounts(h *Head) error {
	for _, c := range f.Counts {
		if n := h.Count(c.Name); n > c.Most {
			return fmt.Errorf("%d %s, at most %d", n, c.Name, c.Most)
		}
	}
	if f.Bound == nil {
		return nil
	}
	return f.Bound(h.Counts)
}

// NewDisclosure returns a disclosure of the leaves of a bundle at the indexes shown, which must ascend. leaves contains
// the hashes of all leaves, and leaf returns the content of one of them. issued is the SHA-256 of the bundle's bytes as
// the kernel issued it.
//
// It is an error to show no leaf, and to disclose a part of a bundle whose leaves do not lead to its own
// graph_snapshot_hash. Every node is hashed once, however many leaves are shown.
//
// Source: RFC 6962, section 2.1.1; docs/evidence.md, section 7.
func NewDisclosure(f *DisclosureForm, h Head, issued dag.Digest, leaves []dag.Digest, shown []int, leaf func(int) Leaf) (*Disclosure, error) {
	if len(shown) == 0 {
		return nil, fmt.Errorf("slice: a disclosure shows at least one leaf")
	}
	d := &Disclosure{claims: h, Bundle: issued, Shown: make([]Shown, len(shown)), form: f}
	if err := f.checkCounts(&h); err != nil {
		return nil, fmt.Errorf("slice: disclosing a part of a bundle: %w", err)
	}
	hashes := make([]tlog.Hash, len(leaves))
	for i := range leaves {
		hashes[i] = tlog.Hash(leaves[i])
	}
	root, paths := auditPaths(hashes, shown)
	if want := h.Provenance.GraphSnapshotHash; dag.Digest(root) != want {
		return nil, fmt.Errorf("slice: disclosing a part of a bundle: its leaves have the root %s, but graph_snapshot_hash is %s", root, want)
	}
	for i, at := range shown {
		d.Shown[i] = Shown{Index: at, Path: paths[i], Leaf: leaf(at)}
	}
	return d, nil
}

// A Place identifies a leaf: by the member under which it is shown, and by its ID.
type Place struct{ Member, ID string }

// Disclose is NewDisclosure for a caller that has all leaves of the bundle. It is an error to show a leaf that does not
// exist.
func Disclose(f *DisclosureForm, h Head, issued dag.Digest, leaves []Leaf, show []Place) (*Disclosure, error) {
	places := make(map[Place]int, len(leaves))
	hashes := make([]dag.Digest, len(leaves))
	for i, l := range leaves {
		places[Place{l.Member(), l.ID()}], hashes[i] = i, l.Hash()
	}
	shown := make([]int, len(show))
	for i, p := range show {
		at, ok := places[p]
		if !ok {
			return nil, fmt.Errorf("slice: %s %s is not in the bundle, so it cannot be shown", p.Member, p.ID)
		}
		shown[i] = at
	}
	slices.Sort(shown)
	return NewDisclosure(f, h, issued, hashes, slices.Compact(shown), func(i int) Leaf { return leaves[i] })
}

// Head returns the disclosure's claims about its bundle.
func (d *Disclosure) Head() Head { return d.claims }

// Redacted returns the turns that are shown without their text, by ascending id. Nothing is known about turns that are
// not shown, including this.
func (d *Disclosure) Redacted() []dag.TurnID {
	if d.form.Redacted == nil {
		return nil
	}
	return d.form.Redacted(d)
}

// Size returns the number of leaves of the bundle's tree, by the disclosure's own counts.
func (d *Disclosure) Size() int { return d.form.size(&d.claims) }

// Append appends the disclosure's canonical bytes. For a parsed disclosure, they are the parsed bytes.
func (d *Disclosure) Append(dst []byte) []byte {
	f := d.form
	text := func(key, value string) canon.Field {
		return canon.Field{Key: key, Write: func(w *canon.Writer) { w.String(value) }}
	}
	var counts []canon.Field
	for _, c := range f.Counts {
		counts = append(counts, canon.Field{Key: c.Key, Write: func(w *canon.Writer) { w.Uint(d.Count(c.Name)) }})
	}
	fields := []canon.Field{
		text("anchor", d.Anchor.String()), {Key: "as_of", Write: func(w *canon.Writer) { w.Uint(uint64(d.AsOf)) }},
		text("bundle", d.Bundle.String()), text("key_id", d.Seal.KeyID), {Key: "policy", Write: d.Policy.AppendWire},
		{Key: "provenance", Write: d.Provenance.AppendWire}, {Key: f.ShownIn, Write: d.writeShown}, text("tenant", string(d.Seal.Tenant)),
		text("token", d.Seal.Token), text("type", disclosureType), text("version", f.Version),
	}
	if f.CountsIn == "" {
		fields = append(fields, counts...)
	} else {
		fields = append(fields, canon.Field{Key: f.CountsIn, Write: func(w *canon.Writer) { w.Object(counts) }})
	}
	w := canon.NewWriter(dst)
	w.Object(fields)
	return w.Bytes
}

func (d *Disclosure) writeShown(w *canon.Writer) {
	w.BeginArray()
	for i := range d.Shown {
		s := &d.Shown[i]
		w.Object([]canon.Field{
			{Key: "index", Write: func(w *canon.Writer) { w.Uint(uint64(s.Index)) }}, {Key: "path", Write: s.writePath}, {Key: s.Leaf.Member(), Write: s.Leaf.Write},
		})
	}
	w.EndArray()
}

func (s *Shown) writePath(w *canon.Writer) {
	w.BeginArray()
	for i := range s.Path {
		w.Hex(s.Path[i][:])
	}
	w.EndArray()
}

// ParseDisclosure reads the canonical bytes of a disclosure in one of some forms, like ParseBundle reads a bundle's.
// The error is ErrMalformed for another spelling, and ErrVersion for an unknown version of the disclosure, its schema
// or its policy. It reads at most MaxBundle bytes. It checks the form of every field, but computes no hashes;
// Disclosure.Check does.
func ParseDisclosure(data []byte, forms ...*DisclosureForm) (*Disclosure, error) {
	f := forms[0] // also used if the version is unknown or not a string; the latter is malformed
	versions := func(doc *canon.Value) []KnownVersion {
		if v := doc.Get("version"); v != nil && v.Kind == canon.String {
			for _, known := range forms {
				if known.Version == v.Text {
					f = known
				}
			}
		}
		return []KnownVersion{Known("", "version", f.Version), Known("provenance", "schema_version", f.Schema), {"policy", "type", f.Policy.Types()}}
	}
	return ReadStrict("disclosure", data, BytesOfValue, versions, func(c *canon.Cursor) *Disclosure { return f.read(c) }, nil)
}

func (f *DisclosureForm) read(c *canon.Cursor) *Disclosure {
	if t := c.Field("type"); t.String() != disclosureType {
		t.Failf("%.40q, want %q", t.String(), disclosureType)
	}
	_ = c.Field("version").String() // its value was checked before
	d := &Disclosure{form: f, Bundle: canon.Parsed(c.Field("bundle"), dag.ParseDigest), claims: Head{
		Anchor:     canon.Parsed(c.Field("anchor"), dag.ParseTurnID),
		AsOf:       dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))),
		Provenance: ReadProvenance(c.Field("provenance")),
		Seal:       ReadSeal(c),
		Policy:     f.Policy.Read(c.Field("policy"), policy.Wire),
	}}
	in := c
	if f.CountsIn != "" {
		in = c.Field(f.CountsIn)
	}
	for _, count := range f.Counts {
		d.Counts = append(d.Counts, Count{count.Name, in.Field(count.Key).Uint(count.Most)})
	}
	if in != c {
		in.Close()
	}
	if err := f.checkCounts(&d.claims); err != nil {
		c.Fail(err)
	}
	list := c.Field(f.ShownIn)
	for _, item := range list.Items() {
		d.Shown = append(d.Shown, f.readShown(item))
	}
	if len(d.Shown) == 0 {
		list.Failf("want at least one")
	}
	c.Close()
	return d
}

func (f *DisclosureForm) readShown(c *canon.Cursor) Shown {
	s := Shown{Index: int(c.Field("index").Uint(f.MaxIndex))}
	path := c.Field("path")
	hashes := path.Items()
	if len(hashes) > maxPath {
		path.Failf("%d hashes, at most %d", len(hashes), maxPath)
	}
	for _, h := range hashes {
		s.Path = append(s.Path, canon.Parsed(h, dag.ParseDigest))
	}
	for _, section := range f.Sections {
		if section.Read == nil || s.Leaf != nil {
			continue
		}
		if member := c.Optional(section.Member); member != nil {
			s.Leaf = section.Read(member)
		}
	}
	if s.Leaf == nil {
		c.Failf("no leaf is shown at this index")
	}
	c.Close()
	return s
}

// Check makes the checks that a part allows and returns one result for each, in the order of the bundle's checks, with
// CheckInclusion in place of CheckSnapshot. Checks that need the whole bundle are skipped, with the reason. Check does
// not look at the token or Bundle. It costs one hash for each hash of a path, plus the cost of the shown leaves.
func (d *Disclosure) Check() []Check { return d.form.Check(d) }

// CheckOrder checks that indexes and ids ascend, and that each leaf belongs to the section at its index.
func (d *Disclosure) CheckOrder() Check {
	var id, before string
	for i := range d.Shown {
		s := &d.Shown[i]
		before, id = id, s.Leaf.ID()
		if in := d.form.at(&d.claims, s.Index); in != s.Leaf.Member() {
			return Failed(CheckCanonicalOrder, "", fmt.Sprint(s.Index), "%s[%d]: the leaf at index %d is of %q, not of %q", d.form.ShownIn, i, s.Index, in, s.Leaf.Member())
		}
		if i == 0 {
			continue
		}
		last := &d.Shown[i-1]
		if last.Index >= s.Index {
			return Failed(CheckCanonicalOrder, "", fmt.Sprint(s.Index), "%s[%d]: index %d does not come after %d", d.form.ShownIn, i, s.Index, last.Index)
		}
		if last.Leaf.Member() == s.Leaf.Member() && before >= id {
			return Failed(CheckCanonicalOrder, "", id, "%s[%d]: %s does not come after %s", d.form.ShownIn, i, id, before)
		}
	}
	return Passed(CheckCanonicalOrder, "%d of %d leaves", len(d.Shown), d.Size())
}

// CheckPolicy checks that policy_params_hash is the hash of the policy in the disclosure.
func (d *Disclosure) CheckPolicy() Check {
	want, got := d.Policy.Hash(), d.Provenance.PolicyParamsHash
	return Compared(CheckPolicyHash, want, got)
}

// CheckPaths checks that every path leads to graph_snapshot_hash.
func (d *Disclosure) CheckPaths() Check {
	if err := d.form.checkCounts(&d.claims); err != nil {
		return Failed(CheckInclusion, "", "", "%v", err)
	}
	if len(d.Shown) == 0 {
		return Failed(CheckInclusion, "", "", "no leaf is shown, so none can be checked against graph_snapshot_hash")
	}
	size, root := d.Size(), d.Provenance.GraphSnapshotHash
	for i := range d.Shown {
		s := &d.Shown[i]
		if !leads(s.Path, size, s.Index, s.Leaf.Hash(), root) {
			return Failed(CheckInclusion, root.String(), "", "%s[%d]: the path of %d hashes does not lead from %s %s at index %d to the root of %d leaves", d.form.ShownIn, i, len(s.Path), s.Leaf.Member(), s.Leaf.ID(), s.Index, size)
		}
	}
	return Passed(CheckInclusion, "%d of %d leaves", len(d.Shown), size)
}
