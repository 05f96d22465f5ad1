package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A change is what one call does to the memory. Its maps remember what was looked up.
type change struct {
	s       *Server
	ctx     context.Context
	who     access.Identity
	aliases *normalize.Table
	acts    []knowledge.Act
	types   map[string]*kernel.Fact    // by entity: what says its type; nil: it does not exist
	texts   map[string]map[string]bool // by entity: its observations
}

// changing runs what changes the memory while no other call does, and records its acts.
func (s *Server) changing(ctx context.Context, who access.Identity, do func(*change) error) error {
	done, err := s.remember(ctx, who.Tenant)
	if err != nil {
		return err
	}
	defer done()
	aliases, err := s.kernel.Aliases(ctx, who.Tenant, 0)
	if err != nil {
		return err
	}
	c := &change{s: s, ctx: ctx, who: who, aliases: aliases, types: map[string]*kernel.Fact{}, texts: map[string]map[string]bool{}}
	if err := do(c); err != nil {
		return err
	}
	if len(c.acts) > knowledge.MaxActs && c.acts[0].Kind == knowledge.Assert {
		return refusef("the call asserts %d facts, at most %d at once; split it. Nothing was changed", len(c.acts), knowledge.MaxActs)
	}
	for acts := range slices.Chunk(c.acts, knowledge.MaxActs) { // to delete some and to call again is safe
		if _, err := s.kernel.Learn(ctx, who.Tenant, acts); err != nil {
			return err
		}
	}
	return nil
}

// key gives the one name of an entity, or "" if nothing can have such a name.
func (c *change) key(written string) string {
	name, err := normalize.Name(written)
	if err != nil {
		return ""
	}
	return c.aliases.Resolve(name)
}

// entity gives the fact that says an entity's type, or nil if there is none.
func (c *change) entity(name string) (*kernel.Fact, error) {
	key := c.key(name)
	if f, ok := c.types[key]; ok || key == "" {
		return f, nil
	}
	facts, _, err := c.s.kept(c.ctx, c.who, kernel.FactQuery{Subject: name, Predicate: typePredicate, Source: memorySource}, 0)
	if err != nil {
		return nil, err
	}
	c.types[key] = nil
	if len(facts) > 0 {
		c.types[key] = &facts[0]
	}
	return c.types[key], nil
}

// observed gives the observations of an entity, by their canonical form.
func (c *change) observed(name string) (map[string]bool, error) {
	key := c.key(name)
	if have, ok := c.texts[key]; ok {
		return have, nil
	}
	facts, _, err := c.s.kept(c.ctx, c.who, kernel.FactQuery{Subject: name, Predicate: observedPredicate, Source: memorySource}, 0)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for i := range facts {
		have[facts[i].Version.Object] = true
	}
	c.texts[key] = have
	return have, nil
}

// assert adds a fact to the acts. It refuses one that another source is as sure of: the
// memory would not see it, for a statement has one source.
func (c *change) assert(subject, predicate, object string) error {
	f, err := knowledge.NewFact(subject, predicate, object, memorySource)
	if err != nil {
		return refusef("%v", err)
	}
	id := f.ID()
	page, err := c.s.kernel.Facts(c.ctx, c.who.Tenant, kernel.FactQuery{Subject: subject, Statement: &id})
	if err != nil {
		return err
	}
	for i := range page.Facts {
		if v := &page.Facts[i].Version; v.Confidence >= f.Confidence {
			return refusef("%q %s %q is known already, from the source %s, and stays that source's: leave it out; knowledge_find shows it. Nothing was changed", subject, predicate, object, v.Source)
		}
	}
	c.acts = append(c.acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
	return nil
}

// observe adds an observation, unless the entity has it, and reports whether it did.
func (c *change) observe(name, text string) (bool, error) {
	have, err := c.observed(name)
	if err != nil {
		return false, err
	}
	canonical, err := normalize.Name(text)
	if err != nil || have[canonical] {
		return false, err
	}
	have[canonical] = true
	return true, c.assert(name, observedPredicate, text)
}

// retract adds the end of facts to the acts, each once.
func (c *change) retract(reason string, gone map[knowledge.ID]bool, facts ...kernel.Fact) (n int) {
	for i := range facts {
		if id := facts[i].Version.ID; !gone[id] {
			gone[id] = true
			n++
			c.acts = append(c.acts, knowledge.Act{Kind: knowledge.Retract, Statement: id, Reason: reason})
		}
	}
	return n
}

func missing(name string) error { return refusef("Entity with name %s not found", name) }

func (s *Server) createEntities(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	entities := readMemoryList(in.Field("entities"), func(c *canon.Cursor) memoryEntity {
		defer c.Close()
		return memoryEntity{readMemoryName(c.Field("name")), readMemoryName(c.Field("entityType")), readMemoryList(c.Field("observations"), readMemoryName)}
	})
	if err := read(in); err != nil {
		return answer{}, err
	}
	created := []memoryEntity{}
	err := s.changing(ctx, who, func(c *change) error {
		for _, e := range entities {
			if f, err := c.entity(e.Name); err != nil {
				return err
			} else if f != nil {
				continue
			}
			c.types[c.key(e.Name)] = &kernel.Fact{}
			if err := c.assert(e.Name, typePredicate, e.EntityType); err != nil {
				return err
			}
			kept := memoryEntity{e.Name, e.EntityType, []string{}}
			for _, text := range e.Observations {
				if added, err := c.observe(e.Name, text); err != nil {
					return err
				} else if added {
					kept.Observations = append(kept.Observations, text)
				}
			}
			created = append(created, kept)
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return remembered(map[string]any{"entities": created}, created)
}

func (s *Server) createRelations(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	relations := readMemoryList(in.Field("relations"), func(c *canon.Cursor) memoryRelation {
		r := readRelation(readMemoryName)(c)
		if name, err := normalize.Name(r.RelationType); err == nil && (name == typePredicate || name == observedPredicate) {
			c.Failf("a relation cannot be of the type %.40q, which is kept for what entities are and what was observed of them", r.RelationType)
		}
		return r
	})
	if err := read(in); err != nil {
		return answer{}, err
	}
	created := []memoryRelation{}
	err := s.changing(ctx, who, func(c *change) error {
		seen := map[[3]string]bool{}
		for _, r := range relations {
			shown := r
			for _, end := range [...]*string{&shown.From, &shown.To} {
				f, err := c.entity(*end)
				if err != nil {
					return err
				} else if f == nil {
					return missing(*end)
				}
				*end = spelledAs(f, *end)
			}
			kind, _ := normalize.Name(r.RelationType) // it was read
			key := [3]string{c.key(r.From), kind, c.key(r.To)}
			if seen[key] {
				continue
			}
			seen[key] = true
			facts, _, err := s.kept(ctx, who, relationQuery(&r), 1)
			if err != nil {
				return err
			} else if len(facts) > 0 {
				continue
			}
			if err := c.assert(shown.From, shown.RelationType, shown.To); err != nil {
				return err
			}
			created = append(created, r)
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return remembered(map[string]any{"relations": created}, created)
}

func relationQuery(r *memoryRelation) kernel.FactQuery {
	return kernel.FactQuery{Subject: r.From, Predicate: r.RelationType, Object: r.To, Source: memorySource}
}

// spelledAs gives an entity's own spelling of its name, if that is what was written, so that
// relations name entities as entities are named.
func spelledAs(f *kernel.Fact, written string) string {
	subject, _, _ := spelling(f).Spelled()
	if name, err := normalize.Name(written); err == nil && name == f.Version.Subject {
		return subject
	}
	return written
}

type addition struct {
	EntityName string   `json:"entityName"`
	Added      []string `json:"addedObservations"`
}

// texts of an entity, to be added or deleted.
type entityTexts struct {
	name  string
	texts []string
}

func readTexts(key string, name func(*canon.Cursor) string) func(*canon.Cursor) entityTexts {
	return func(c *canon.Cursor) entityTexts {
		defer c.Close()
		return entityTexts{name(c.Field("entityName")), readMemoryList(c.Field(key), name)}
	}
}

func (s *Server) addObservations(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	lists := readMemoryList(in.Field("observations"), readTexts("contents", readMemoryName))
	if err := read(in); err != nil {
		return answer{}, err
	}
	added := []addition{}
	err := s.changing(ctx, who, func(c *change) error {
		for _, l := range lists {
			if f, err := c.entity(l.name); err != nil {
				return err
			} else if f == nil {
				return missing(l.name)
			}
			a := addition{l.name, []string{}}
			for _, text := range l.texts {
				if is, err := c.observe(l.name, text); err != nil {
					return err
				} else if is {
					a.Added = append(a.Added, text)
				}
			}
			added = append(added, a)
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return remembered(map[string]any{"results": added}, added)
}

// deleted gives the answer of the three tools that delete.
func deleted(what string, n, asked int, rest string) answer {
	message := what + " deleted successfully"
	if n != asked {
		message = fmt.Sprintf("Deleted %d of %d %s.", n, asked, strings.ToLower(what)) + rest
	}
	return answer{text: message, result: map[string]any{"success": true, "message": message}}
}

func (s *Server) deleteEntities(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	names := readMemoryList(in.Field("entityNames"), readAnyString)
	if err := read(in); err != nil {
		return answer{}, err
	}
	var absent []string
	err := s.changing(ctx, who, func(c *change) error {
		gone := map[knowledge.ID]bool{}
		for _, name := range names {
			if f, err := c.entity(name); err != nil {
				return err
			} else if f == nil {
				absent = append(absent, name)
			}
			if c.key(name) == "" {
				continue
			}
			facts, err := s.about(ctx, who, name)
			if err != nil {
				return err
			}
			c.retract("delete_entities", gone, facts...)
		}
		return nil
	})
	return deleted("Entities", len(names)-len(absent), len(names), " Not found: "+strings.Join(absent, ", ")), err
}

func (s *Server) deleteObservations(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	lists := readMemoryList(in.Field("deletions"), readTexts("observations", readAnyString))
	if err := read(in); err != nil {
		return answer{}, err
	}
	n, asked, rest := 0, 0, ""
	var absent []string
	err := s.changing(ctx, who, func(c *change) error {
		gone := map[knowledge.ID]bool{}
		for _, l := range lists {
			asked += len(l.texts)
			if f, err := c.entity(l.name); err != nil {
				return err
			} else if f == nil {
				absent = append(absent, l.name)
				continue
			}
			facts, _, err := s.kept(ctx, who, kernel.FactQuery{Subject: l.name, Predicate: observedPredicate, Source: memorySource}, 0)
			if err != nil {
				return err
			}
			for _, text := range l.texts {
				name, err := normalize.Name(text)
				for i := range facts {
					if err == nil && facts[i].Version.Object == name {
						n += c.retract("delete_observations", gone, facts[i])
					}
				}
			}
		}
		return nil
	})
	if len(absent) > 0 {
		rest = " Entities not found: " + strings.Join(absent, ", ")
	}
	return deleted("Observations", n, asked, rest), err
}

func (s *Server) deleteRelations(ctx context.Context, who access.Identity, in *canon.Cursor) (answer, error) {
	relations := readMemoryList(in.Field("relations"), readRelation(readAnyString))
	if err := read(in); err != nil {
		return answer{}, err
	}
	n := 0
	err := s.changing(ctx, who, func(c *change) error {
		gone := map[knowledge.ID]bool{}
		for _, r := range relations {
			if _, err := normalize.Name(r.RelationType); err != nil || c.key(r.From) == "" || c.key(r.To) == "" {
				continue
			}
			facts, _, err := s.kept(ctx, who, relationQuery(&r), 0)
			if err != nil {
				return err
			}
			for i := range facts {
				if isRelation(&facts[i]) {
					n += c.retract("delete_relations", gone, facts[i])
				}
			}
		}
		return nil
	})
	return deleted("Relations", n, len(relations), " The rest matched nothing."), err
}
