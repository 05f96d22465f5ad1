package storetest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// Tenant is the tenant that the suite writes as.
const Tenant dag.Tenant = "storetest"

// TurnID returns the n-th id of a fixed sequence whose order is not that of n.
func TurnID(n int) (id dag.TurnID) {
	binary.BigEndian.PutUint64(id[:], uint64(n+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(n+1))
	return id
}

// ConversationID returns the n-th id of another such sequence.
func ConversationID(n int) (id dag.ConversationID) {
	binary.BigEndian.PutUint64(id[:], uint64(n+1)*0xd1342543de82ef95)
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// SaltOf returns a fixed salt for each number.
func SaltOf(n int) (s dag.Salt) {
	binary.BigEndian.PutUint64(s[:], uint64(n)+1)
	binary.BigEndian.PutUint64(s[8:], uint64(n)*0xbf58476d1ce4e5b9)
	return s
}

// Arrival returns a well-formed arrival: turn n of a conversation, continuing from the turns with the given numbers.
func Arrival(n, conversation int, content string, parents ...int) store.Arrival {
	a := store.Arrival{
		Turn: dag.Turn{
			ID:           TurnID(n),
			Conversation: ConversationID(conversation),
			Role:         dag.Role(1 + n%4),
			Phase:        dag.Phases[n%len(dag.Phases)],
			Salience:     dag.PPM(n * 7919 % 1_000_001),
			CreatedAt:    dag.Time(1_700_000_000_000_000 + int64(n)*1_000_003),
		},
		Key:   BroughtBy(n),
		Marks: MarksOf(n),
		Place: fmt.Sprintf("line %d", n),
	}
	for i, p := range parents {
		a.Parents = append(a.Parents, dag.Parent{ID: TurnID(p), Kind: dag.EdgeKind(1 + (n+i)%4)})
	}
	return WithBody(a, dag.Body{Author: "human:guest", Content: content, Salt: SaltOf(n)})
}

// mostCost is below the cost that policies allow for an anchor: a test may admit any number of turns and cut slices around them.
const mostCost = 32_000

// MarksOf returns the marks of turn n: up to four things, some of which other turns have, too.
func MarksOf(n int) dag.Marks {
	m := dag.Marks{Rules: dag.Marks1, Voice: dag.Voices[n%len(dag.Voices)], Cost: uint32(n * 31 % mostCost), Origin: OriginOf(n)}
	for i := range n % 5 {
		m.Things = append(m.Things, dag.Thing{0: byte(i), 15: byte(n % 3)})
	}
	return m
}

// OriginOf returns the origin of turn n: every channel and every grant, with an author and a key or without.
func OriginOf(n int) dag.Origin {
	o := dag.Origin{Channel: dag.Channels[n%len(dag.Channels)], Grant: dag.Grant(n % 6)}
	if n%2 == 0 {
		o.Author = dag.Thing{1: byte(n%7 + 1)}
	}
	if n%3 == 0 {
		o.Key = dag.Thing{2: byte(n%5 + 1)}
	}
	return o
}

// BroughtBy returns the credential that brings turn n: an API key, a JWT, or none.
func BroughtBy(n int) string {
	switch n % 3 {
	case 1:
		return Key(n % 4).ID
	case 2:
		return fmt.Sprintf("jwt:agent %d 🔑", n%4)
	}
	return ""
}

// AskedBy returns who asked for bundle or erasure n: a credential that brings turns, a command, an agent over stdio, or "" for unknown.
func AskedBy(n int) string {
	switch n % 5 {
	case 3:
		return access.Local
	case 4:
		return access.Stdio
	}
	return BroughtBy(n)
}

// WithBody returns the arrival with another body and its digest.
func WithBody(a store.Arrival, b dag.Body) store.Arrival {
	a.Body = slice.AppendBody(nil, &b)
	a.Salt = b.Salt
	a.External = b.Attrs[dag.AttrExternalID]
	a.Turn.BodyDigest = slice.DigestBody(a.Body, b.Salt)
	return a
}

// Named returns the arrival with an external id.
func Named(a store.Arrival, name string) store.Arrival {
	b, err := slice.ParseBody(a.Body)
	if err != nil {
		panic("storetest: " + err.Error())
	}
	b.Salt = a.Salt
	b.Attrs = map[string]string{dag.AttrExternalID: name}
	return WithBody(a, b)
}

// Withheld returns the arrival without its body, and with the body's digest.
func Withheld(a store.Arrival) store.Arrival {
	a.Body, a.Salt, a.External = nil, dag.Salt{}, ""
	return a
}

// Drawn returns the arrival with a drawn salt, as if it had come without one.
func Drawn(a store.Arrival, n int) store.Arrival {
	b, err := slice.ParseBody(a.Body)
	if err != nil {
		panic("storetest: " + err.Error())
	}
	b.Salt = SaltOf(n)
	a = WithBody(a, b)
	a.SaltDrawn = true
	return a
}

// Chain returns the turns first to first+n-1 of one conversation, each continuing from the one before it.
func Chain(first, n, conversation int) store.Batch {
	b := make(store.Batch, n)
	for i := range b {
		content := fmt.Sprintf("turn %d of a chain", first+i)
		if i == 0 {
			b[i] = Arrival(first, conversation, content)
		} else {
			b[i] = Arrival(first+i, conversation, content, first+i-1)
		}
	}
	return b
}

// Records returns the records of arrivals, in their order, under consecutive numbers. Their parents are among the arrivals or in before.
func Records(first dag.Seq, before, arrivals store.Batch) []store.Record {
	conversations := map[dag.TurnID]dag.ConversationID{}
	for _, b := range []store.Batch{before, arrivals} {
		for i := range b {
			conversations[b[i].Turn.ID] = b[i].Turn.Conversation
		}
	}
	records := make([]store.Record, len(arrivals))
	for i := range arrivals {
		a := &arrivals[i]
		r := store.Record{Seq: first + dag.Seq(i), Turn: a.Turn, Leaf: slice.TurnLeaf(&a.Turn), Body: a.Body, Salt: a.Salt, External: a.External, Withheld: a.Body == nil, Key: a.Key, Marks: a.Marks}
		for _, p := range a.Parents {
			leaf := slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: a.Turn.ID, Kind: p.Kind})
			r.Parents = append(r.Parents, dag.SkeletonParent{ID: p.ID, Conversation: conversations[p.ID], Kind: p.Kind, Leaf: leaf})
		}
		records[i] = r
	}
	return records
}

// Erased returns Erasure(n) with a number.
func Erased(seq dag.Seq, n int) erasures.Erasure {
	e := Erasure(n)
	e.Seq = seq
	return e
}

// Policy returns a policy of slices whose parameters differ by n.
func Policy(id policy.ID, n int) policy.Registered {
	params := policy.DefaultV1()
	params.MaxNodes = 1 + n
	p, err := policy.Bind(id, params)
	if err != nil {
		panic("storetest: " + err.Error())
	}
	return p
}

// FactPolicy returns a policy of slices of facts.
func FactPolicy(id policy.ID) policy.Registered {
	p, err := policy.Bind(id, facts.Policy{Predicates: facts.Following("knows", "owned-by"), Direction: knowledge.Incoming, MaxHops: 2, MaxResults: 3, MinConfidence: 1})
	if err != nil {
		panic("storetest: " + err.Error())
	}
	return p
}

// IssuedFacts is like Issued, for a slice of facts.
func IssuedFacts(n, sliceNumber int) issued.Record {
	i := Issued(n, sliceNumber)
	i.Provenance.SchemaVersion, i.Provenance.PolicyID = slice.FactsVersion, facts.PolicyID
	i.Question = fmt.Sprintf("entity %d, \U0001f464?", sliceNumber)
	i.Bundle[8] = 1
	return i
}

// IssuedContext is like Issued, for a context that showed turn 1.
func IssuedContext(n, sliceNumber int) issued.Record {
	i := Issued(n, sliceNumber)
	i.Provenance.SchemaVersion = slice.ContextVersion
	i.Question = fmt.Sprintf(`{"budget":9,"format":"markdown","salt":"%064x","task":"%s %d"}`, n, TaskWords, n)
	i.Shown = issued.PackTurns([]dag.TurnID{TurnID(1)})
	i.Bundle[8] = 2
	return i
}

// TaskWords occur in the task of every IssuedContext, and nowhere else.
const TaskWords = "a task that nobody else has"

// TaskErasure returns the erasure of the task of an IssuedContext.
func TaskErasure(sliceNumber int) issued.TaskErasure {
	return issued.TaskErasure{Context: Issued(1, sliceNumber).Provenance.SliceID, Reason: "asked by \x00 the person \U0001f464", At: 1_800_000_000_000_000, By: AskedBy(sliceNumber)}
}

// Issued returns the record of an issued slice. Each pair of arguments has a bundle of its own.
func Issued(n, sliceNumber int) issued.Record {
	i := issued.Record{
		Provenance: slice.Provenance{
			SliceID:       slice.SliceID(fmt.Sprintf("%016x", uint64(sliceNumber)*0x9e3779b97f4a7c15)),
			Anchor:        TurnID(sliceNumber + 1),
			PolicyID:      policy.DefaultV1ID,
			SchemaVersion: slice.SchemaVersion,
		},
		AsOf:  dag.Seq(n),
		KeyID: "key-1",
		Token: fmt.Sprintf("%032x", n),
		At:    dag.Time(1_700_000_000_000_000 + int64(n)),
		By:    AskedBy(n),
	}
	i.Provenance.PolicyParamsHash[0], i.Provenance.PolicyParamsHash[1] = byte(sliceNumber), 1
	i.Provenance.GraphSnapshotHash[0], i.Provenance.GraphSnapshotHash[1] = byte(n), 1
	binary.BigEndian.PutUint64(i.Bundle[:], uint64(n)*0xd1342543de82ef95^uint64(sliceNumber)*0xaf251af3b0f025b5)
	return i
}

// Erasure returns the erasure of a turn's body.
func Erasure(n int) erasures.Erasure {
	return erasures.Erasure{Turn: TurnID(n), Reason: "asked by \x00 the person \U0001f464", At: dag.Time(1_800_000_000_000_000 + int64(n)), By: AskedBy(n)}
}

// Key returns an API key of Tenant; keys with the same n have the same id. A key's age does not follow n, and some keys are equally old.
func Key(n int) access.Key {
	role := access.Roles[n%len(access.Roles)]
	var admits access.Scope
	if role.May(access.Admit) {
		admits = access.Scope{Roles: "user,tool", Authors: fmt.Sprintf("*,agent:%d:🔑*", n)}
	}
	if role == access.Agent {
		admits.Spaces = "acme/*,desk"
	}
	return access.Key{
		Tenant:    Tenant,
		ID:        fmt.Sprintf("%016x", uint64(n+1)*0x9e3779b97f4a7c15),
		Role:      role,
		Admits:    admits,
		Note:      fmt.Sprintf("key %d \x00 \U0001f511", n),
		Hash:      sha256.Sum256(fmt.Append(nil, n)),
		CreatedAt: dag.Time(1_700_000_000_000_000 + int64(n*7%5)),
	}
}

// RevokedAt returns the time when the n-th key is revoked.
func RevokedAt(n int) dag.Time { return dag.Time(1_800_000_000_000_000 + int64(n)) }
