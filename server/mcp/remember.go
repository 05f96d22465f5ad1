package mcp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A change is the change of the memory by one call. Its maps cache look-ups.
type change struct {
	s       *Server
	ctx     context.Context
	who     access.Identity
	aliases *normalize.Table
	steps   [][]knowledge.Act          // each is recorded completely or not at all
	asserts bool                       // the call asserts: all steps are recorded, or none
	types   map[string]*api.Fact       // by entity: the fact with its type; nil: the entity does not exist
	failed  error                      // of a look-up in others
	texts   map[string]map[string]bool // by entity: the names of its observations
}

// changing runs do while no other call changes the memory, and records the acts. The acts of a call that asserts are
// recorded together, all or none. Those of a call that only retracts may be recorded in parts, because the call can
// safely be repeated.
func changing(ctx context.Context, s *Server, who access.Identity, do func(*change) error) error {
	done, err := remember(ctx, s, who.Tenant)
	if err != nil {
		return err
	}
	defer done()
	aliases, err := s.kernel.Facts().Aliases(ctx, who.Tenant, 0)
	if err != nil {
		return err
	}
	c := &change{s: s, ctx: ctx, who: who, aliases: aliases, types: map[string]*api.Fact{}, texts: map[string]map[string]bool{}}
	if err := do(c); err != nil || c.failed != nil {
		return cmp.Or(err, c.failed)
	}
	var acts []knowledge.Act
	learn := func() error {
		if len(acts) == 0 {
			return nil
		}
		_, err := s.kernel.Facts().Learn(ctx, who.Tenant, acts)
		acts = acts[:0]
		return err
	}
	for _, step := range c.steps {
		if len(acts)+len(step) > knowledge.MaxActs {
			if c.asserts {
				return refusef("the call asserts more than %d facts at once; split it. Nothing was changed", knowledge.MaxActs)
			}
			if err := learn(); err != nil {
				return err
			}
		}
		acts = append(acts, step...)
	}
	return learn()
}

// key returns the canonical name of an entity, or "" if no entity can have such a name.
func (c *change) key(written string) string {
	name, err := normalize.Name(written)
	if err != nil {
		return ""
	}
	return c.aliases.Resolve(name)
}

// entity returns the fact with an entity's type, or nil if there is none.
func (c *change) entity(name string) (*api.Fact, error) {
	key := c.key(name)
	if f, ok := c.types[key]; ok || key == "" {
		return f, nil
	}
	facts, _, err := kept(c.ctx, c.s, c.who, api.FactFilter{Subject: name, Predicate: TypePredicate, Source: MemorySource}, 0, 0)
	if err != nil {
		return nil, err
	}
	c.types[key] = nil
	if i := slices.IndexFunc(facts, func(f api.Fact) bool { return isType(&f) }); i >= 0 {
		c.types[key] = &facts[i]
	}
	return c.types[key], nil
}

// observations returns the facts that are the observations of an entity.
func (c *change) observations(name string) ([]api.Fact, error) {
	facts, _, err := kept(c.ctx, c.s, c.who, api.FactFilter{Subject: name, Predicate: ObservedPredicate, Source: MemorySource}, 0, 0)
	return slices.DeleteFunc(facts, func(f api.Fact) bool { return !isObservation(&f) }), err
}

// observed returns the names of the observations of an entity.
func (c *change) observed(name string) (map[string]bool, error) {
	key := c.key(name)
	if have, ok := c.texts[key]; ok {
		return have, nil
	}
	facts, err := c.observations(name)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for i := range facts {
		have[facts[i].Stated().Object] = true
	}
	c.texts[key] = have
	return have, nil
}

// assert adds the acts that assert a fact. The memory shows a fact only if its own assertion gave the fact its
// confidence. So if another source already gave at least this confidence, the fact is retracted, asserted by the
// memory, and asserted again by the other sources, all in one step: it never stops being believed, and its evidence
// stays the same.
func (c *change) assert(f knowledge.Fact) error {
	c.asserts = true
	id := f.ID()
	page, err := c.s.kernel.Facts().List(c.ctx, c.who.Tenant, api.FactQuery{FactFilter: api.FactFilter{Statement: &id}})
	if err != nil {
		return err
	}
	own := knowledge.Act{Kind: knowledge.Assert, Fact: f}
	if len(page.Facts) == 0 || page.Facts[0].Confidence < f.Confidence {
		c.steps = append(c.steps, []knowledge.Act{own})
		return nil
	}
	c.steps = append(c.steps, append([]knowledge.Act{retraction(id, "asserted by "+MemorySource+" too"), own}, c.others(&page.Facts[0])...))
	return nil
}

func retraction(id knowledge.ID, reason string) knowledge.Act {
	return knowledge.Act{Kind: knowledge.Retract, Statement: id, Reason: reason}
}

// others returns the assertions of a fact by other sources, to be repeated. An error makes the whole change fail.
func (c *change) others(f *api.Fact) (acts []knowledge.Act) {
	if f.EvidenceTotal == 1 && f.Source == MemorySource {
		return nil
	}
	all, err := c.s.kernel.Facts().Evidence(c.ctx, c.who.Tenant, f.Statement, 0)
	c.failed = cmp.Or(c.failed, err)
	for i := range all {
		if said := &all[i].Act.Fact; said.Source != MemorySource {
			acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: *said})
		}
	}
	return acts
}

// observe adds an observation, unless the entity already has it, and reports whether it added one.
func (c *change) observe(name, text string) (bool, error) {
	have, err := c.observed(name)
	if err != nil {
		return false, err
	}
	f, err := knowledge.NewText(name, ObservedPredicate, text, MemorySource)
	if err != nil {
		return false, refusef("%v", err)
	}
	if have[f.Object] {
		return false, nil
	}
	have[f.Object] = true
	return true, c.assert(f)
}

// retract adds the acts that retract facts, each fact once. Assertions by other sources stay believed.
func (c *change) retract(reason string, gone map[knowledge.ID]bool, facts ...api.Fact) (n int) {
	for i := range facts {
		if id := facts[i].Statement; !gone[id] {
			gone[id] = true
			n++
			c.steps = append(c.steps, append([]knowledge.Act{retraction(id, reason)}, c.others(&facts[i])...))
		}
	}
	return n
}

func missing(name string) error { return refusef("Entity with name %s not found", name) }

func createEntities(ctx context.Context, s *Server, who access.Identity, in newEntities, _ position) (answer, error) {
	created := []memoryEntity{}
	err := changing(ctx, s, who, func(c *change) error {
		for _, e := range in.Entities {
			name, kindOf := string(e.Name), string(e.EntityType)
			if f, err := c.entity(name); err != nil {
				return err
			} else if f != nil {
				continue
			}
			c.types[c.key(name)] = &api.Fact{}
			kind, err := knowledge.NewText(name, TypePredicate, kindOf, MemorySource)
			if err != nil {
				return refusef("%v", err)
			}
			if err := c.assert(kind); err != nil {
				return err
			}
			kept := memoryEntity{name, kindOf, []string{}}
			for _, text := range e.Observations {
				if added, err := c.observe(name, string(text)); err != nil {
					return err
				} else if added {
					kept.Observations = append(kept.Observations, string(text))
				}
			}
			created = append(created, kept)
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return answer{items: reflect.ValueOf(created)}, nil
}

func createRelations(ctx context.Context, s *Server, who access.Identity, in newRelations, _ position) (answer, error) {
	created := []memoryRelation{}
	err := changing(ctx, s, who, func(c *change) error {
		seen := map[[3]string]bool{}
		for _, given := range in.Relations {
			r := memoryRelation{string(given.From), string(given.To), string(given.RelationType)}
			shown := r
			for _, end := range [...]*string{&shown.From, &shown.To} {
				f, err := c.entity(*end)
				switch {
				case err != nil:
					return err
				case f == nil: // nothing of the call is recorded
					return missing(*end)
				}
				*end = spelledAs(f, *end)
			}
			kind, _ := normalize.Name(r.RelationType) // the reader accepted it
			key := [3]string{c.key(r.From), kind, c.key(r.To)}
			if seen[key] {
				continue
			}
			seen[key] = true
			facts, _, err := kept(ctx, s, who, relationQuery(&r), 0, 0)
			if err != nil {
				return err
			} else if slices.ContainsFunc(facts, func(f api.Fact) bool { return isRelation(&f) }) {
				continue
			}
			f, err := knowledge.NewFact(shown.From, shown.RelationType, shown.To, MemorySource)
			if err != nil {
				return refusef("%v", err)
			}
			if err := c.assert(f); err != nil {
				return err
			}
			created = append(created, r)
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return answer{items: reflect.ValueOf(created)}, nil
}

func relationQuery(r *memoryRelation) api.FactFilter {
	return api.FactFilter{Subject: r.From, Predicate: r.RelationType, Object: r.To, Source: MemorySource}
}

// spelledAs returns the entity's own spelling of its name if written is a spelling of that name, so that relations and
// entities use the same spelling.
func spelledAs(f *api.Fact, written string) string {
	if f == nil {
		return written // an entity that does not exist
	}
	subject, _, _ := f.Spelled()
	if name, err := normalize.Name(written); err == nil && name == f.Stated().Subject {
		return subject
	}
	return written
}

type addition struct {
	EntityName string   `json:"entityName"`
	Added      []string `json:"addedObservations"`
}

func addObservations(ctx context.Context, s *Server, who access.Identity, in newObservations, _ position) (answer, error) {
	added := []addition{}
	err := changing(ctx, s, who, func(c *change) error {
		for _, l := range in.Observations {
			name := string(l.EntityName)
			if f, err := c.entity(name); err != nil {
				return err
			} else if f == nil {
				return missing(name)
			}
			a := addition{name, []string{}}
			for _, text := range l.Contents {
				if is, err := c.observe(name, string(text)); err != nil {
					return err
				} else if is {
					a.Added = append(a.Added, string(text))
				}
			}
			added = append(added, a)
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return answer{items: reflect.ValueOf(added)}, nil
}

// deleted returns the answer of the three deletion tools.
func deleted(what string, n, asked int, rest string) answer {
	message := what + " deleted successfully"
	if n != asked {
		message = fmt.Sprintf("Deleted %d of %d %s.", n, asked, strings.ToLower(what)) + rest
	}
	return answer{text: message}
}

func deleteEntities(ctx context.Context, s *Server, who access.Identity, in oldEntities, _ position) (answer, error) {
	names := in.EntityNames
	var absent []string
	err := changing(ctx, s, who, func(c *change) error {
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
			facts, err := about(ctx, s, who, name, 0)
			if err != nil {
				return err
			}
			c.retract("delete_entities", gone, facts...)
		}
		return nil
	})
	return deleted("Entities", len(names)-len(absent), len(names), " Not found: "+strings.Join(absent, ", ")), err
}

func deleteObservations(ctx context.Context, s *Server, who access.Identity, in oldObservations, _ position) (answer, error) {
	n, asked, rest := 0, 0, ""
	var absent []string
	err := changing(ctx, s, who, func(c *change) error {
		gone := map[knowledge.ID]bool{}
		for _, l := range in.Deletions {
			asked += len(l.Observations)
			if f, err := c.entity(l.EntityName); err != nil {
				return err
			} else if f == nil {
				absent = append(absent, l.EntityName)
				continue
			}
			facts, err := c.observations(l.EntityName)
			if err != nil {
				return err
			}
			for _, text := range l.Observations {
				name, err := normalize.Text(text)
				for i := range facts {
					if err == nil && facts[i].Stated().Object == name {
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

func deleteRelations(ctx context.Context, s *Server, who access.Identity, in oldRelations, _ position) (answer, error) {
	n := 0
	err := changing(ctx, s, who, func(c *change) error {
		gone := map[knowledge.ID]bool{}
		for _, r := range in.Relations {
			r := memoryRelation(r)
			if _, err := normalize.Name(r.RelationType); err != nil || c.key(r.From) == "" || c.key(r.To) == "" {
				continue
			}
			facts, _, err := kept(ctx, s, who, relationQuery(&r), 0, 0)
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
	return deleted("Relations", n, len(in.Relations), " The rest matched nothing."), err
}
