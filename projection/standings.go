package projection

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
)

// Namers returns the things by which the turns of a tenant name authors and credentials; drawn is false if the tenant has no turn yet.
type Namers func(ctx context.Context, tenant dag.Tenant) (names standing.Namer, drawn bool, err error)

// Standings makes the projections of tenants' standing policies.
type Standings struct {
	store    Store
	policies *Policies
	names    Namers
	voices   *bytelru.Cache[graphKey, *voices]
}

// NewStandings returns a maker of projections.
func NewStandings(s Store, policies *Policies, names Namers) *Standings {
	return &Standings{s, policies, names, bytelru.New[graphKey, *voices](mostVoices)}
}

// TenantStandings is the projection of the standing policies that were put in force for one tenant.
type TenantStandings struct {
	all      *Standings
	tenant   dag.Tenant
	followed *follow.Member

	mu     sync.Mutex
	set    []settings.Setting // by ascending number
	course standing.Course    // the first setting, and those of set that were asked for
}

func (s *Standings) of(tenant dag.Tenant, with *follow.Follower) *TenantStandings {
	t := &TenantStandings{all: s, tenant: tenant}
	t.followed = with.Add(t)
	return t
}

// Begin reads every setting.
func (t *TenantStandings) Begin(ctx context.Context, to dag.Seq) (dag.Seq, error) {
	all, err := settings.Base{History: t.all.store}.All(ctx, t.tenant)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set, t.course = nil, nil
	for i := range all {
		if all[i].Seq <= to {
			t.set = append(t.set, all[i])
		}
	}
	return to, nil
}

// Apply adds a setting.
func (t *TenantStandings) Apply(e *history.Entry) error {
	if e.Kind != settings.Kind {
		return nil
	}
	set, err := settings.Read(e)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = append(t.set, set)
	return nil
}

// Course returns the settings of the tenant up to a number that its history has reached, and the number up to which they are complete. Nothing waits while it
// reads policies from the store.
func (t *TenantStandings) Course(ctx context.Context, atLeast dag.Seq) (standing.Course, dag.Seq, error) {
	if err := t.followed.Reach(ctx, atLeast); err != nil {
		return nil, 0, err
	}
	reached := t.followed.UpTo() // loaded first: a setting that comes meanwhile is above it
	set, course := t.held()
	if len(course) == len(set)+1 {
		return course, reached, nil
	}
	names, drawn, err := t.all.names(ctx, t.tenant)
	if err != nil {
		return nil, 0, err
	}
	policyOf := func(id policy.ID) (policy.Registered, error) { return t.all.policies.Get(ctx, t.tenant, id) }
	if course, err = settings.CourseOf(set, policyOf, names); err == nil && drawn {
		t.keep(course)
	}
	return course, reached, err
}

// held returns the settings, and the course of as many of them as were asked for.
func (t *TenantStandings) held() ([]settings.Setting, standing.Course) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.set), t.course
}

// keep keeps a course, unless a longer one is kept.
func (t *TenantStandings) keep(course standing.Course) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(course) > len(t.course) {
		t.course = course
	}
}
