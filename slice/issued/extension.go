package issued

import (
	"encoding/hex"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// extended reports whether the record has fields that are written after the caller.
func (r *Record) extended() bool {
	return r.Reading != 0 || r.Head != 0 || r.Delivery != (Delivery{})
}

// appendExtension appends Reading, Head and Delivery as canonical JSON, leaving out zero values.
func (r *Record) appendExtension(dst []byte) []byte {
	d := &r.Delivery
	w := canon.NewWriter(dst)
	text := func(key, value string) {
		if value != "" {
			w.Key(key)
			w.String(value)
		}
	}
	w.BeginObject()
	text("agent", d.Agent)
	text("event", d.Event)
	text("except", hex.EncodeToString([]byte(d.Except)))
	text("folder", string(d.Folders))
	number := func(key string, n uint64) {
		if n != 0 {
			w.Key(key)
			w.Uint(n)
		}
	}
	number("head", uint64(r.Head))
	number("reading", uint64(r.Reading))
	text("session", d.Session)
	text("task_of", hex.EncodeToString([]byte(d.TaskOf)))
	w.EndObject()
	return w.Bytes
}

// readExtension reads the output of appendExtension.
func (r *Record) readExtension(written []byte) error {
	doc, err := canon.Parse(written)
	if err != nil {
		return err
	}
	d := &r.Delivery
	c := canon.Open(doc)
	text := func(key string) string {
		if v := c.Optional(key); v != nil {
			return v.String()
		}
		return ""
	}
	d.Agent, d.Event = text("agent"), text("event")
	except, wrong := hex.DecodeString(text("except"))
	d.Except = Conversations(except)
	d.Folders = Folders(text("folder"))
	number := func(key string, most uint64) uint64 {
		if v := c.Optional(key); v != nil {
			return v.Uint(most)
		}
		return 0
	}
	r.Head = dag.Seq(number("head", uint64(dag.MaxSeq)))
	r.Reading = dag.Reading(number("reading", uint64(dag.ReadNow)))
	d.Session = text("session")
	turns, err := hex.DecodeString(text("task_of"))
	d.TaskOf = Turns(turns)
	c.Close()
	if err := errors.Join(err, wrong, c.Err()); err != nil {
		return err
	}
	if string(r.appendExtension(nil)) != string(written) || !r.extended() {
		return errors.New("the part after the caller differs from what this program would write")
	}
	return nil
}
