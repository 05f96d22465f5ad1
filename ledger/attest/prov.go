package attest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/slice"
)

// ProvNamespace is the namespace of attributes and types that W3C PROV does not define.
const ProvNamespace = "https://github.com/graphkernel/graphkernel/prov#"

// AppendProv appends a bundle as PROV-JSON. It is canonical JSON: the same bundle and statement always produce the same
// bytes. It contains authors, but no text.
//
//	turn:ID                 entity, gk:Turn            one for each turn
//	k:slice/DIGEST          entity, prov:Collection    hadMember each turn, wasGeneratedBy the cut
//	k:policy/NAME%40N       entity, prov:Plan          plan of the cut's wasAssociatedWith
//	k:cut/DIGEST            activity, gk:Cut           used each turn, with the reason
//	k:kernel                agent, prov:SoftwareAgent
//	k:agent/AUTHOR          agent                      turns were attributed to it
//	k:text/ID               entity, gk:Text            of an erased turn: specialization of it, invalidated by
//	k:erasure/ID            activity, gk:Erasure
//
// An edge is a wasDerivedFrom from child to parent. An erasure invalidates the text and not the turn, which is still
// used. DIGEST is the SHA-256 of the bundle as it was issued. The name of a relation is a hash of the things that it
// relates. The errors are those of Match: only a bundle that was signed is exported.
//
// Source: W3C PROV-DM; PROV-JSON (member submission of 24 April 2013), sections 2 and 3; PROV-N, section 3.7.1 for
// names, in which special characters are percent-encoded.
func AppendProv(dst []byte, s *Statement, b *slice.Bundle) ([]byte, error) {
	withheld, err := s.Match(b, sha256.Sum256(b.Append(nil)))
	if err != nil {
		return nil, err
	}
	why := map[dag.TurnID]Why{}
	for _, id := range withheld {
		why[id] = Withheld
	}
	for _, r := range s.Redacted {
		why[r.Turn] = r.Why
	}
	d := &provDocument{agents: map[string]bool{}}
	d.addSlice(s)
	for i := range b.Turns {
		d.addTurn(s, &b.Turns[i], why[b.Turns[i].ID])
	}
	for _, e := range b.Edges {
		d.relate("wasDerivedFrom", attribute("gk:kind", e.Kind.String()),
			attribute("prov:generatedEntity", provTurn(e.Child)), attribute("prov:usedEntity", provTurn(e.Parent)))
	}
	return d.append(dst, s.Origin), nil
}

// A provDocument is a PROV-JSON document: records with a section and an id.
type provDocument struct {
	records []provRecord
	agents  map[string]bool // the agents that were added
}

type provRecord struct {
	section, id string
	attributes  []provAttribute
}

type provAttribute struct {
	key    string
	values []provLiteral // a single value is written without an array
}

// A provLiteral is a string, plain or with a type.
type provLiteral struct{ text, kind string }

func attribute(key, text string) provAttribute { return typed(key, "", text) }

func typed(key, kind string, texts ...string) provAttribute {
	a := provAttribute{key: key}
	for _, t := range texts {
		a.values = append(a.values, provLiteral{t, kind})
	}
	return a
}

// Types of literals. In PROV-JSON a qualified name has the type xsd:QName.
const (
	qualifiedName = "xsd:QName"
	wholeNumber   = "xsd:long"
)

func (d *provDocument) add(section, id string, attributes ...provAttribute) {
	d.records = append(d.records, provRecord{section, id, attributes})
}

// relate adds a relation. Its name is a hash of it, because a counter would give the same relation different names in
// different bundles.
func (d *provDocument) relate(section string, attributes ...provAttribute) {
	h := sha256.New()
	h.Write([]byte(section))
	for _, a := range attributes {
		if strings.HasPrefix(a.key, "prov:") { // the ends of the relation; other attributes are not part of its name
			h.Write([]byte("\x00" + a.key + "\x00" + a.values[0].text))
		}
	}
	d.add(section, "_:"+hex.EncodeToString(h.Sum(nil)[:16]), attributes...)
}

func (d *provDocument) addSlice(s *Statement) {
	issued, cut, plan := "k:slice/"+s.Subject.String(), "k:cut/"+s.Subject.String(), "k:policy/"+provName(string(s.Provenance.PolicyID))
	d.add("agent", "k:kernel", attribute("prov:label", s.Origin), typed("prov:type", qualifiedName, "prov:SoftwareAgent"))
	d.add("entity", plan, attribute("gk:policyId", string(s.Provenance.PolicyID)),
		attribute("gk:policyParamsHash", s.Provenance.PolicyParamsHash.String()), typed("prov:type", qualifiedName, "prov:Plan"))
	d.add("entity", issued,
		attribute("gk:anchorTurnId", s.Provenance.Anchor.String()), typed("gk:asOf", wholeNumber, number(s.AsOf)),
		attribute("gk:graphSnapshotHash", s.Provenance.GraphSnapshotHash.String()), typed("gk:ledgerIndex", wholeNumber, number(s.Index)),
		attribute("gk:schemaVersion", s.Provenance.SchemaVersion), attribute("gk:sliceId", string(s.Provenance.SliceID)),
		attribute("gk:tenant", string(s.Tenant)), typed("prov:type", qualifiedName, "gk:Slice", "prov:Collection"))
	d.add("activity", cut, typed("prov:type", qualifiedName, "gk:Cut"))
	d.relate("wasGeneratedBy", attribute("prov:activity", cut), attribute("prov:entity", issued), attribute("prov:time", s.IssuedAt.String()))
	d.relate("wasAssociatedWith", attribute("prov:activity", cut), attribute("prov:agent", "k:kernel"), attribute("prov:plan", plan))
}

func (d *provDocument) addTurn(s *Statement, t *slice.BundleTurn, why Why) {
	id := provTurn(t.ID)
	entity := []provAttribute{
		attribute("gk:bodyDigest", t.BodyDigest.String()), attribute("gk:conversation", t.Conversation.String()),
		typed("gk:createdAt", "xsd:dateTime", t.CreatedAt.String()), attribute("gk:phase", t.Phase.String()),
	}
	if why != "" {
		entity = append(entity, attribute("gk:redacted", string(why)))
	}
	d.add("entity", id, append(entity, attribute("gk:role", t.Role.String()),
		typed("gk:salience", "xsd:decimal", t.Salience.String()), typed("prov:type", qualifiedName, "gk:Turn"))...)
	d.relate("hadMember", attribute("prov:collection", "k:slice/"+s.Subject.String()), attribute("prov:entity", id))
	d.relate("used", typed("gk:distance", wholeNumber, number(t.Admission.Distance)), typed("gk:scoreNano", wholeNumber, number(uint64(t.Admission.Score))),
		attribute("gk:via", t.Admission.Via.String()), attribute("prov:activity", "k:cut/"+s.Subject.String()), attribute("prov:entity", id))
	if t.Body != nil && t.Body.Author != "" {
		d.addAuthor(id, t.Body.Author)
	}
	if why == Erased {
		d.addErasure(id, t.ID)
	}
}

// addAuthor records the author of a turn. Each agent is added once.
func (d *provDocument) addAuthor(turn, author string) {
	agent := "k:agent/" + provName(author)
	attributes := []provAttribute{attribute("prov:label", author)}
	switch kind, _, _ := strings.Cut(author, ":"); kind {
	case "human":
		attributes = append(attributes, typed("prov:type", qualifiedName, "prov:Person"))
	case "agent":
		attributes = append(attributes, typed("prov:type", qualifiedName, "prov:SoftwareAgent"))
	}
	if !d.agents[agent] {
		d.agents[agent] = true
		d.add("agent", agent, attributes...)
	}
	d.relate("wasAttributedTo", attribute("prov:agent", agent), attribute("prov:entity", turn))
}

func (d *provDocument) addErasure(turn string, id dag.TurnID) {
	text, erasure := "k:text/"+id.String(), "k:erasure/"+id.String()
	d.add("entity", text, typed("prov:type", qualifiedName, "gk:Text"))
	d.add("activity", erasure, typed("prov:type", qualifiedName, "gk:Erasure"))
	d.relate("specializationOf", attribute("prov:generalEntity", turn), attribute("prov:specificEntity", text))
	d.relate("wasInvalidatedBy", attribute("prov:activity", erasure), attribute("prov:entity", text))
}

func (d *provDocument) append(dst []byte, origin string) []byte {
	d.add("prefix", "gk")
	slices.SortFunc(d.records, func(a, b provRecord) int {
		return cmp.Or(strings.Compare(a.section, b.section), strings.Compare(a.id, b.id))
	})
	w := canon.NewWriter(dst)
	w.BeginObject()
	for i, r := range d.records {
		if i == 0 || d.records[i-1].section != r.section {
			if i > 0 {
				w.EndObject()
			}
			w.Key(r.section)
			w.BeginObject()
		}
		if r.section == "prefix" {
			writePrefixes(w, origin)
			continue
		}
		w.Key(r.id)
		w.BeginObject()
		for _, a := range r.attributes {
			w.Key(a.key)
			a.write(w)
		}
		w.EndObject()
	}
	w.EndObject()
	w.EndObject()
	return w.Bytes
}

func writePrefixes(w *canon.Writer, origin string) {
	w.Key("gk")
	w.String(ProvNamespace)
	w.Key("k")
	w.String("https://" + origin + "/prov/")
	w.Key("turn")
	w.String("urn:uuid:")
}

func (a provAttribute) write(w *canon.Writer) {
	if len(a.values) > 1 {
		w.BeginArray()
		defer w.EndArray()
	}
	for _, v := range a.values {
		if v.kind == "" {
			w.String(v.text)
			continue
		}
		w.BeginObject()
		w.Key("$")
		w.String(v.text)
		w.Key("type")
		w.String(v.kind)
		w.EndObject()
	}
}

func provTurn(id dag.TurnID) string { return "turn:" + id.String() }

// provName percent-encodes all characters of a name except letters, digits, dashes and underscores: a local name allows
// other characters only in some places, and a JSON key allows no special ones.
func provName(s string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			out = append(out, c)
			continue
		}
		out = append(out, '%', digits[c>>4], digits[c&15])
	}
	return string(out)
}
