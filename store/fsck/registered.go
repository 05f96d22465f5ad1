package fsck

import (
	"fmt"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// checkPolicies reads the registry, which computes the hash of each policy again.
func checkPolicies(c *checker) error {
	all, err := policyBase(c).All(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("policies", err)
	}
	c.counts.Policies = len(all.All())
	return nil
}

// checkSettings checks that each standing policy that was put in force is registered with the parameters that it had then: without it nobody can say what turns
// count for.
func checkSettings(c *checker) error {
	all, err := settings.Base{History: c.s}.All(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("settings of the standing policy", err)
	}
	if len(all) == 0 {
		return nil
	}
	if _, err := courseOf(c, all); err != nil {
		return c.cannot("settings of the standing policy", "policy", err)
	}
	return nil
}

// wordsOf returns what the turns of a view count for, or nil if a policy does not look at it.
func wordsOf(c *checker, v dag.View, p policy.Registered) (*standing.Words, error) {
	params, err := p.Slice()
	if err != nil || params.Walk().Standings == nil {
		return nil, err
	}
	if c.course == nil {
		all, err := settings.Base{History: c.s}.All(c.ctx, c.tenant)
		if err == nil {
			c.course, err = courseOf(c, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return standing.WordsOf(v, c.course), nil
}

// courseOf returns the course of settings. The policies are read after the settings, so they have those of each.
func courseOf(c *checker, all []settings.Setting) (standing.Course, error) {
	var key marks.Key
	cells, err := c.s.Cells(c.ctx, c.tenant, marks.Cell)
	if err == nil && len(cells) > 0 {
		key, err = marks.ParseKey(cells[0].Value)
	}
	if err != nil {
		return nil, err
	}
	stored, err := policyBase(c).All(c.ctx, c.tenant)
	if err != nil {
		return nil, err
	}
	given, err := standard.Registry()
	if err != nil {
		return nil, err
	}
	return settings.CourseOf(all, func(id policy.ID) (policy.Registered, error) {
		if p, err := stored.Get(id); err == nil {
			return p, nil
		}
		return given.Get(id)
	}, key)
}

func policyBase(c *checker) registry.Base { return registry.Base{History: c.s} }

// checkKeys reads each API key, alone and in the list.
func checkKeys(c *checker) error {
	base := apikeys.Base{History: c.s}
	list, err := base.All(c.ctx, c.tenant)
	if err != nil {
		return c.unreadable("keys", err)
	}
	if len(list) > apikeys.Max {
		c.find("keys", "number", "there are %d, at most %d", len(list), apikeys.Max)
	}
	hashes := make(map[[32]byte]string, len(list))
	for _, k := range list {
		where := "key " + k.ID
		c.counts.Keys++
		if other, ok := hashes[k.Hash]; ok {
			c.find(where, "hash", "key %s has the same hash", other)
		}
		hashes[k.Hash] = k.ID
		alone, err := base.Get(c.ctx, c.tenant, k.ID)
		if err != nil {
			if err := c.unreadable(where, err); err != nil {
				return err
			}
			continue
		}
		if k.RevokedAt == 0 {
			alone.RevokedAt = 0 // it may have been revoked meanwhile
		}
		if alone != k {
			c.find(where, "found by id", "it differs from the key in the list")
		}
	}
	return nil
}

// checkCells checks the form of cells.
func checkCells(c *checker) error {
	list, err := c.s.Cells(c.ctx, c.tenant, "")
	if err != nil {
		return c.unreadable("cells", err)
	}
	for i := range list {
		where := fmt.Sprintf("cell %q", list[i].Name)
		if i > 0 && list[i-1].Name >= list[i].Name {
			c.find(where, "order", "it is listed after %q", list[i-1].Name)
		}
		codec, err := kinds.OfCell(list[i].Name)
		if err == nil {
			err = codec.Check(&list[i])
		}
		if err == nil {
			err = list[i].Check()
		}
		if err != nil {
			c.find(where, "form", "%v", err)
		}
	}
	return nil
}
