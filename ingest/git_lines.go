package ingest

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/project"
)

// readCommitLines reads a file of commits as JSON lines, parents first:
//
//	{"id":HASH,"parents":[HASH,…],"time":RFC 3339,"author":NAME,"text":MESSAGE}
//
// They become the same turns as the commits of the repository itself. Other fields are noted as ignored.
func readCommitLines(r *reading, path string) error {
	c := newCommits(r, path)
	err := r.jsonRecords(path, func(rec jsonRecord) error {
		cm, ok := commitOf(rec.value)
		if !ok {
			r.skip(skipMalformed)
			return nil
		}
		rec.mended.note(&cm.noted)
		cm.place = rec.place
		return c.add(cm)
	})
	if err != nil {
		return err
	}
	return c.hand()
}

func commitOf(v *canon.Value) (*commit, bool) {
	cm := &commit{}
	for i := range v.Members {
		m := &v.Members[i]
		s := m.Value.Text
		switch m.Key {
		case "id":
			cm.hash = s
		case "parents":
			for j := range m.Value.Items {
				if !project.IsHash(m.Value.Items[j].Text) {
					return nil, false
				}
				cm.parents = append(cm.parents, m.Value.Items[j].Text)
			}
			continue
		case "time":
			t, err := dag.ReadTime(s)
			cm.time, cm.noTime = t, err != nil
		case "author":
			cm.author = s
		case "text":
			cm.message = s
		default:
			if len(m.Value.Items) > 0 || len(m.Value.Members) > 0 || s != "" {
				cm.noted.add("field_ignored")
			}
			continue
		}
		if m.Value.Kind != canon.String {
			return nil, false
		}
	}
	return cm, project.IsHash(cm.hash)
}
