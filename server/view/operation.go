package view

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
)

// An Operation is an operation with the function that answers it from a kernel. The service, the
// tools for agents and the commands over an open store call the same one.
type Operation[In, Out any] struct {
	api.Operation[In, Out]
	Answer func(context.Context, *kernel.Kernel, dag.Tenant, In) (Out, error)
}

func answered[In, Out any](op api.Operation[In, Out], by func(context.Context, *kernel.Kernel, dag.Tenant, In) (Out, error)) Operation[In, Out] {
	return Operation[In, Out]{op, func(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in In) (Out, error) {
		out, err := by(ctx, k, tenant, in)
		return out, spaceAdvice(ctx, k, tenant, err)
	}}
}

// of returns the function that asks a facet of a kernel.
func of[Facet, In, Out any](facet func(*kernel.Kernel) Facet, ask func(Facet, context.Context, dag.Tenant, In) (Out, error)) func(context.Context, *kernel.Kernel, dag.Tenant, In) (Out, error) {
	return func(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in In) (Out, error) {
		return ask(facet(k), ctx, tenant, in)
	}
}

// mostSpaces bounds the spaces that an error names.
const mostSpaces = 8

// spaceAdvice adds to an error about an unknown space which spaces there are, and who can make one and how.
func spaceAdvice(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, err error) error {
	if !errors.Is(err, journal.ErrSpace) || access.Asking(ctx).Vouches() {
		return err
	}
	all, failed := k.Beliefs().Spaces(ctx, tenant, api.SpacesQuery{})
	if failed != nil {
		return err
	}
	there := "there is none yet"
	if n := len(all.Spaces); n > 0 {
		more := ""
		if n > mostSpaces {
			more = fmt.Sprintf(" and %d more", n-mostSpaces)
		}
		var names []string
		for _, s := range all.Spaces[:min(n, mostSpaces)] {
			names = append(names, string(s.Space))
		}
		there = "there are " + strings.Join(names, ", ") + more
	}
	return fmt.Errorf("%w; %s. A person makes a space, not an agent: ask for graphkernel belief space PROJECT/NAME (over HTTP, POST /api/spaces with a key that may revise)", err, there)
}

// The operations that need a kernel and nothing else.
var (
	GetTurn           = answered(api.GetTurn, getTurn)
	ListTurns         = answered(api.ListTurns, listTurns)
	LookUpTurns       = answered(api.LookUpTurns, lookUpTurns)
	ResolveTurn       = answered(api.ResolveTurn, resolveTurn)
	EraseTurn         = answered(api.EraseTurn, eraseTurn)
	ListErasures      = answered(api.ListErasures, listErasures)
	ListHeldBack      = answered(api.ListHeldBack, listHeldBack)
	ReleaseTurns      = answered(api.ReleaseTurns, releaseTurns)
	ListFolders       = answered(api.ListFolders, listFolders)
	ListConversations = answered(api.ListConversations, listConversations)
	ListSlices        = answered(api.ListSlices, of((*kernel.Kernel).Slices, kernel.Slices.List))
	TurnHolding       = answered(api.TurnHolding, of((*kernel.Kernel).Slices, kernel.Slices.Holding))
	EraseTask         = answered(api.EraseTask, eraseTask)
	GetSlice          = answered(api.GetSlice, of((*kernel.Kernel).Slices, kernel.Slices.Get))
	ExplainTurn       = answered(api.ExplainTurn, explainTurn)
	ListPolicies      = answered(api.ListPolicies, listPolicies)
	GetPolicy         = answered(api.GetPolicy, getPolicy)
	FactsHistory      = answered(api.FactsHistory, of((*kernel.Kernel).Facts, kernel.Facts.History))
	ListAliases       = answered(api.ListAliases, of((*kernel.Kernel).Facts, kernel.Facts.ListAliases))
	CountKnowledge    = answered(api.CountKnowledge, of((*kernel.Kernel).Facts, kernel.Facts.Count))
	SearchTurns       = answered(api.SearchTurns, search)
	EnrichHits        = answered(api.EnrichHits, enrich)
	AssembleContext   = answered(api.AssembleContext, assemble)
	ExplainContext    = answered(api.ExplainContext, explainContext)
	ReportNotGiven    = answered(api.ReportNotGiven, reportNotGiven)
	PreviewSlice      = answered(api.PreviewSlice, preview)
	ExplainCut        = answered(api.ExplainCut, explain)
	ListFacts         = answered(api.ListFacts, of((*kernel.Kernel).Facts, kernel.Facts.List))
	RetractFacts      = answered(api.RetractFacts, of((*kernel.Kernel).Facts, kernel.Facts.Retract))
	TraverseKnowledge = answered(api.TraverseKnowledge, of((*kernel.Kernel).Facts, kernel.Facts.Traverse))
	FindPaths         = answered(api.FindPaths, of((*kernel.Kernel).Facts, kernel.Facts.Paths))
	KnowledgeSince    = answered(api.KnowledgeSince, of((*kernel.Kernel).Facts, kernel.Facts.Changes))
	ListKeys          = answered(api.ListKeys, listKeys)
	CreateKey         = answered(api.CreateKey, createKey)
	RevokeKey         = answered(api.RevokeKey, revokeKey)
	AtlasSnapshot     = answered(api.AtlasSnapshot, of((*kernel.Kernel).Atlas, survey.Atlas.Snapshot))
	AtlasOverlap      = answered(api.AtlasOverlap, of((*kernel.Kernel).Atlas, survey.Atlas.Overlap))
	AtlasInfluence    = answered(api.AtlasInfluence, of((*kernel.Kernel).Atlas, survey.Atlas.Influence))
	AtlasCommunities  = answered(api.AtlasCommunities, of((*kernel.Kernel).Atlas, survey.Atlas.Communities))
	AtlasManifest     = answered(api.AtlasManifest, of((*kernel.Kernel).Atlas, survey.Atlas.Manifest))
	BlameTurn         = answered(api.BlameTurn, of((*kernel.Kernel).Atlas, survey.Atlas.Blame))
	SetSpace          = answered(api.SetSpace, of((*kernel.Kernel).Beliefs, kernel.Beliefs.SetSpace))
	ListSpaces        = answered(api.ListSpaces, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Spaces))
	ReviseBeliefs     = answered(api.ReviseBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Revise))
	ContractBeliefs   = answered(api.ContractBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Contract))
	ExpandBeliefs     = answered(api.ExpandBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Expand))
	ProposeBeliefs    = answered(api.ProposeBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Propose))
	GetBeliefBase     = answered(api.GetBeliefBase, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Base))
	ExplainBelief     = answered(api.ExplainBelief, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Why))
	BeliefImpact      = answered(api.BeliefImpact, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Impact))
	DiffBeliefs       = answered(api.DiffBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Diff))
	ListItems         = answered(api.ListItems, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Items))
	BeliefConflicts   = answered(api.BeliefConflicts, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Conflicts))
	ResolveKref       = answered(api.ResolveKref, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Resolve))
	TagKref           = answered(api.TagKref, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Tag))
	DeprecateItem     = answered(api.DeprecateItem, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Deprecate))
	RestoreItem       = answered(api.RestoreItem, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Restore))
	LinkKref          = answered(api.LinkKref, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Link))
	PromoteBeliefs    = answered(api.PromoteBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Promote))
	CascadeBeliefs    = answered(api.CascadeBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Cascade))
	ResolveConflict   = answered(api.ResolveConflict, of((*kernel.Kernel).Beliefs, kernel.Beliefs.ResolveConflict))
	BeliefRules       = answered(api.BeliefRules, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Rules))
	UseBelief         = answered(api.UseBelief, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Used))
	ExportPersona     = answered(api.ExportPersona, of((*kernel.Kernel).Beliefs, kernel.Beliefs.ExportPersona))
	ImportPersona     = answered(api.ImportPersona, of((*kernel.Kernel).Beliefs, kernel.Beliefs.ImportPersona))
	DecayBeliefs      = answered(api.DecayBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Decay))
	AbstractBeliefs   = answered(api.AbstractBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Abstract))
	ArchiveBeliefs    = answered(api.ArchiveBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Archive))
	UnarchiveBeliefs  = answered(api.UnarchiveBeliefs, of((*kernel.Kernel).Beliefs, kernel.Beliefs.Unarchive))

	PutWorking         = answered(api.PutWorking, of((*kernel.Kernel).Working, kernel.Working.Put))
	ListWorking        = answered(api.ListWorking, of((*kernel.Kernel).Working, kernel.Working.List))
	GetWorking         = answered(api.GetWorking, of((*kernel.Kernel).Working, kernel.Working.Get))
	ConsolidateWorking = answered(api.ConsolidateWorking, of((*kernel.Kernel).Working, kernel.Working.Consolidate))
	ClearWorking       = answered(api.ClearWorking, of((*kernel.Kernel).Working, kernel.Working.Clear))
)

// Operations lists them. The service has a route for each, and agents have a tool for each that
// names one, unless package mcp has a tool of that name which answers in its own way.
func Operations() []Answered {
	return []Answered{
		GetTurn, ListTurns, LookUpTurns, ResolveTurn, EraseTurn, ListErasures, ListHeldBack, ReleaseTurns, TurnHolding, ListFolders, ListConversations, SearchTurns, EnrichHits, AssembleContext, ExplainContext, ReportNotGiven,
		PreviewSlice, ExplainCut, ListSlices, GetSlice, EraseTask, ExplainTurn, ListPolicies, GetPolicy,
		ListFacts, RetractFacts, FactsHistory, TraverseKnowledge, FindPaths, CountKnowledge, KnowledgeSince, ListAliases,
		ListKeys, CreateKey, RevokeKey,
		AtlasSnapshot, AtlasOverlap, AtlasInfluence, AtlasCommunities, AtlasManifest, BlameTurn,
		SetSpace, ListSpaces, ReviseBeliefs, ContractBeliefs, ExpandBeliefs, ProposeBeliefs, GetBeliefBase, ExplainBelief, BeliefImpact, DiffBeliefs, ListItems, BeliefConflicts,
		ResolveKref, TagKref, DeprecateItem, RestoreItem, LinkKref, PromoteBeliefs, CascadeBeliefs, ResolveConflict, BeliefRules, UseBelief,
		ExportPersona, ImportPersona, DecayBeliefs, AbstractBeliefs, ArchiveBeliefs, UnarchiveBeliefs,
		PutWorking, ListWorking, GetWorking, ConsolidateWorking, ClearWorking,
	}
}

// Answered is an Operation of any types.
type Answered interface {
	// Declared is what package api declares of it.
	Declared() *api.Spec
	// Read reads an In. What is wrong with it, the cursor says.
	Read(c *canon.Cursor) any
	// Ask answers what Read returned.
	Ask(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in any) (any, error)
}

// Declared implements Answered.
func (o Operation[In, Out]) Declared() *api.Spec { return &o.Spec }

// Read implements Answered.
func (o Operation[In, Out]) Read(c *canon.Cursor) any { return api.Read[In](c) }

// Ask implements Answered.
func (o Operation[In, Out]) Ask(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in any) (any, error) {
	its, ok := in.(In)
	if !ok {
		return nil, fmt.Errorf("%s takes %s and was given %T", o.ID, reflect.TypeFor[In](), in)
	}
	return o.Answer(ctx, k, tenant, its)
}
