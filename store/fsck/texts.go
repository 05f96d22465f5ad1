package fsck

import (
	"crypto/sha256"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// textsSize is the number of bytes of encoded turns above which they are dropped.
const textsSize = 64 << 20

// texts contains the encoded turns of slices that are cut again: slices around one conversation share most of their turns.
type texts struct {
	encoded map[dag.TurnID]text
	size    int
}

type text struct {
	encoded slice.EncodedTurn
	gone    bool // its body came and is gone
}

// rebundle makes the bundle of a record again, with its token, and compares the SHA-256 with the recorded one.
// If a text is gone it compares nothing, and the loss is reported for the turn unless an erasure explains it.
// So rebundle detects a text that is falsely said never to have come, and a token of another bundle.
func rebundle(c *checker, i *issued.Record, s *slice.Slice) error {
	where := issuedName(i.Number)
	var lacking []dag.TurnID
	if c.texts.size > textsSize {
		c.texts = texts{}
	}
	for n := range s.Turns {
		id := s.Turns[n].ID
		if _, ok := c.texts.encoded[id]; !ok {
			lacking = append(lacking, id)
		}
	}
	for some := range slices.Chunk(lacking, 512) {
		if err := fetch(c, some); err != nil {
			return c.cannot(where, "bundle", err)
		}
	}
	for n := range s.Turns {
		t, ok := c.texts.encoded[s.Turns[n].ID]
		if !ok { // its record could not be read, which was reported
			return nil
		}
		if t.gone {
			if at, known := c.lookup(s.Turns[n].ID); known {
				c.vanished = append(c.vanished, at)
			}
			return nil
		}
	}
	seal := slice.Seal{Tenant: c.tenant, KeyID: i.KeyID, Token: i.Token}
	bundle := slice.AppendBundle(nil, s, seal, func(n int) slice.EncodedTurn { return c.texts.encoded[s.Turns[n].ID].encoded })
	if sha256.Sum256(bundle) != i.Bundle {
		c.find(where, "bundle", "the bundle made again has a different SHA-256 than the record: a text that was once stored is marked as never received, or the token belongs to another bundle")
	}
	return nil
}

// fetch encodes turns. A record that cannot be encoded is left out: the scan has reported it.
func fetch(c *checker, ids []dag.TurnID) error {
	records, err := c.s.Turns(c.ctx, c.tenant, store.IDs(ids))
	if err != nil {
		return err
	}
	if c.texts.encoded == nil {
		c.texts.encoded = map[dag.TurnID]text{}
	}
	for n := range records {
		r := &records[n]
		encoded, err := slice.EncodeTurn(&r.Turn, r.Body, r.Salt)
		if err != nil {
			continue
		}
		c.texts.encoded[r.Turn.ID] = text{encoded, r.Body == nil && !r.Withheld}
		c.texts.size += len(encoded) + 64
	}
	return nil
}
