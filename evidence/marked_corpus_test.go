package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// work admits a session in which a person asks twice, and an agent edits two files. It is a conversation of its own.
func (w *world) work() []dag.TurnID {
	conversation := dag.ExternalConversationID("corpus", "work")
	edit := func(file string) string { return "[tool_use Edit]\n{\"file_path\":\"" + file + "\"}" }
	called := map[string]string{"blocks": "tool_use", "tool": "Edit"}
	answered := map[string]string{"blocks": "tool_result", "tool": "Edit"}
	texts := []struct {
		role    dag.Role
		author  string
		content string
		parent  int
		attrs   map[string]string
	}{
		{dag.RoleUser, "human:guest", "Rename the pump.", -1, nil},
		{dag.RoleAssistant, "agent:helper", edit("/src/pump.go"), 0, called},
		{dag.RoleTool, "tool:Edit", "[tool_result]\nThe file has been updated.", 1, answered},
		{dag.RoleSystem, "system:shell", strings.Repeat("noise ", 40), 2, nil},
		{dag.RoleUser, "human:guest", "And in its test ☕", 3, nil},
		{dag.RoleAssistant, "agent:helper", edit("/src/pump_test.go"), 4, called},
		{dag.RoleTool, "tool:Edit", "[tool_result]\nDone.", 5, answered},
		{dag.RoleAssistant, "agent:helper", "Another way.", 4, nil},
		{dag.RoleAssistant, "agent:helper", edit("/src/pump.go"), 6, called},
		{dag.RoleUser, "human:guest", "Thanks.", 8, nil},
	}
	ids := make([]dag.TurnID, len(texts))
	drafts := make([]dag.Draft, len(texts))
	for i, x := range texts {
		ids[i] = dag.ExternalTurnID("corpus", fmt.Sprintf("work %d", i))
		drafts[i] = dag.Draft{
			ID: ids[i], Conversation: conversation, Role: x.role, Author: x.author, Content: x.content, Attrs: x.attrs,
			CreatedAt: w.time() + dag.Time(i)*1_000_000, Phase: dag.Phases[i%len(dag.Phases)], Salience: 500_000, HasSalience: true,
		}
		if x.parent >= 0 {
			drafts[i].Parents = []dag.Parent{{ID: ids[x.parent], Kind: dag.Reply}}
		}
	}
	w.drawsKey(tenant)
	must(w.kernel.Turns().Admit(w.ctx(), tenant, drafts))
	return ids
}

// workPolicy has room for seven of nine turns, and one earlier turn for each thing.
func workPolicy() policy.Registered {
	p := policy.DefaultV2()
	p.MaxNodes, p.MaxTouching, p.MaxSiblings, p.MaxCost = 8, 1, 2, 90
	return must(policy.Bind("work@1", p))
}

// markedCorpus makes the cases of gkp/2, in a kernel of their own.
func markedCorpus(t testing.TB) []corpusCase {
	c := &corpus{world: newWorld(t)}
	ids := c.work()
	must(struct{}{}, c.kernel.Policies().Register(c.ctx(), tenant, workPolicy()))
	cut := func(r kernel.Request) *kernel.Issued { return must(c.kernel.Slices().Cut(c.ctx(), tenant, r)) }
	first := cut(kernel.Request{Anchor: ids[8], Policy: "work@1"})
	c.grow(40)
	one := c.attest(first, 0, 1)
	files := map[string][]byte{bundleFile: first.Bundle, attestFile: one.Envelope, proofFile: one.Proof}
	alone := func(data []byte) map[string][]byte { return map[string][]byte{bundleFile: data} }

	c.add("marked", evidence.Verified, "A bundle of gkp/2, under slice_policy_v2: token, attestation, log and witnesses.", files, c.trustAll(), c.secret)
	c.add("marked_later", evidence.Verified, "The same slice as of a later number, which its reasons say.", alone(cut(kernel.Request{Anchor: ids[8], Policy: "work@1", AsOf: 18}).Bundle), "", c.secret)
	both := policy.DefaultV2()
	both.Direction, both.MaxCost = policy.Both, 0
	must(struct{}{}, c.kernel.Policies().Register(c.ctx(), tenant, must(policy.Bind("both@1", both))))
	c.add("marked_both", evidence.Verified, "What came after the anchor is looked at, too, and any cost.", alone(cut(kernel.Request{Anchor: ids[5], Policy: "both@1", AsOf: 18}).Bundle), "", c.secret)
	whole := parsed(first.Bundle)
	part := must(whole.Withhold([]dag.TurnID{ids[0], ids[4]}))
	c.add("marked_withheld", evidence.Verified, "Texts were withheld: what they cost is not counted again.", with(files, bundleFile, part.Append(nil)), c.trustAll(), c.secret)
	d := must(part.Disclose(sum(first.Bundle), []dag.TurnID{ids[0], ids[8]}))
	dropped := with(files, bundleFile, nil, partFile, d.Append(nil))
	c.add("marked_dropped", evidence.Verified, "A part of it, in a disclosure of gkd/3.", dropped, c.trustAll(), c.secret)
	c.add("marked_dropped_version_fail", evidence.UnknownVersion, "A part that says it is of gkd/1.", with(dropped, partFile, once(d.Append(nil), `"gkd/3"`, `"gkd/1"`)), c.trustAll(), "")
	c.add("marked_as_of_fail", evidence.Tampered, "as_of was changed, which the token covers here.", alone(once(first.Bundle, `"as_of":17,`, `"as_of":18,`)), "", c.secret)
	c.add("marked_version_fail", evidence.UnknownVersion, "A bundle of gkp/2 under a policy of the other type.", alone(once(first.Bundle, "slice_policy_v2", "slice_policy_v1")), "", c.secret)
	c.markedForms(first.Bundle)
	c.markedReasons(whole, ids)
	return c.cases
}

// markedForms are bundles that do not have their form.
func (c *corpus) markedForms(good []byte) {
	for name, change := range map[string][2]string{
		"number_0": {`"number":9,`, `"number":0,`}, "number_missing": {`"number":9,`, ``}, "voice": {`"voice":"tool"`, `"voice":"robot"`},
		"voice_missing": {`,"voice":"tool"`, ``}, "cost": {`"cost":4,`, `"cost":2097153,`}, "things_missing": {`"things":[],`, ``},
		"via": {`"via":"prompt"`, `"via":"guess"`}, "thing_missing": {`"via":"prompt"`, `"via":"touch"`}, "direction": {`"direction":"past"`, `"direction":"future"`},
		"spine": {`"spine":true`, `"spine":1`}, "weight": {`"tool":0.3`, `"tool":1.3`}, "policy_member": {`"spine":true,`, ``},
	} {
		c.add("marked_malformed_"+name+"_fail", evidence.Malformed, "What gkp/2 adds does not have its form: "+change[1]+" for "+change[0]+".", map[string][]byte{bundleFile: firstOf(good, change[0], change[1])}, "", c.secret)
	}
	slices.SortFunc(c.cases, func(a, b corpusCase) int { return strings.Compare(a.name, b.name) })
}

// markedReasons change one thing each that does not follow from the rest, and sign it again, as somebody could who has
// the key: what fails is the check of the reasons alone.
func (c *corpus) markedReasons(whole *slice.Bundle, ids []dag.TurnID) {
	forge := func(name, why string, change func(b *slice.Bundle, turn func(int) *slice.BundleTurn)) {
		b := parsed(whole.Append(nil))
		change(b, func(n int) *slice.BundleTurn {
			return &b.Turns[slices.IndexFunc(b.Turns, func(t slice.BundleTurn) bool { return t.ID == ids[n] })]
		})
		agreeHeader(b.Check, &b.Provenance, "")
		b.Seal = c.sealed(&b.Provenance)
		k := corpusCase{name: "marked_" + name + "_fail", why: why, files: map[string][]byte{bundleFile: b.Append(nil)}, secret: c.secret, verdict: string(evidence.Tampered), code: codes[evidence.Tampered]}
		k.fails = []string{string(slice.CheckAdmissions)}
		c.cases = append(c.cases, k)
	}
	type turns = func(int) *slice.BundleTurn
	rule := func(change func(*policy.SlicePolicyV2)) func(*slice.Bundle, turns) {
		return func(b *slice.Bundle, _ turns) {
			p := b.Policy.(policy.SlicePolicyV2)
			change(&p)
			b.Policy = p
		}
	}
	forge("number_above", "A turn has a greater number than the anchor.", func(b *slice.Bundle, t turns) { t(7).Admission.Number = 18; b.AsOf = 18 })
	forge("number_twice", "Two turns have one number.", func(_ *slice.Bundle, t turns) { t(7).Admission.Number = 15 })
	forge("number_falls", "A turn has a smaller number than its parent.", func(_ *slice.Bundle, t turns) { t(7).Admission.Number = 12 })
	forge("as_of_early", "The slice was cut before its anchor was admitted.", func(b *slice.Bundle, _ turns) { b.AsOf = 16 })
	forge("cost", "A turn costs more than its content.", func(_ *slice.Bundle, t turns) { t(7).Admission.Cost++ })
	forge("max_cost", "The turns cost more than the policy allows.", rule(func(p *policy.SlicePolicyV2) { p.MaxCost = 40 }))
	forge("spine", "A prompt, and the policy has no spine.", rule(func(p *policy.SlicePolicyV2) { p.Spine = false }))
	forge("touching", "A touched turn, and the policy has none.", rule(func(p *policy.SlicePolicyV2) { p.MaxTouching = 0 }))
	forge("siblings", "A sibling, and the policy has none.", rule(func(p *policy.SlicePolicyV2) { p.MaxSiblings = 0 }))
	forge("voice_weight", "The scores are those of another weight.", rule(func(p *policy.SlicePolicyV2) { p.Voices[dag.VoiceTool] /= 2 }))
	forge("voice", "A prompt in an agent's voice.", func(b *slice.Bundle, t turns) {
		t(4).Admission.Voice = dag.VoiceAgent
		rescore(b, t(4))
	})
	forge("prompt_farther", "A nearer prompt is among the turns.", func(b *slice.Bundle, t turns) {
		t(0).Admission.Via, t(0).Admission.From, t(0).Admission.Distance, t(0).Admission.Thing = slice.ViaPrompt, ids[8], 1, dag.Thing{}
		rescore(b, t(0))
	})
	forge("prompt_later", "The prompt came after the turn.", func(b *slice.Bundle, t turns) {
		t(4).Admission.From, t(4).Admission.Distance = ids[1], t(1).Admission.Distance+1
		rescore(b, t(4))
	})
	forge("thing", "They touched different things.", func(_ *slice.Bundle, t turns) {
		t(1).Admission.Things = t(5).Admission.Things
		t(1).Admission.Thing = t(5).Admission.Things[0]
	})
	forge("thing_newer", "A newer turn that touched it is among the turns.", func(_ *slice.Bundle, t turns) { t(5).Admission.Things = t(8).Admission.Things })
	forge("thing_elsewhere", "It touched it in another conversation.", func(_ *slice.Bundle, t turns) { t(1).Conversation[15] ^= 1 })
	forge("child", "A child, and the policy looks at the past.", func(b *slice.Bundle, t turns) {
		t(7).Admission.Via, t(7).Admission.From, t(7).Admission.Distance = slice.ViaChild, ids[4], t(4).Admission.Distance+1
		rescore(b, t(7))
	})
}

func rescore(b *slice.Bundle, t *slice.BundleTurn) {
	w := b.Policy.Walk()
	t.Admission.Score = w.Scorer().Score(t.Admission.Voice, t.Phase, t.Salience, t.Admission.Distance)
}

// TestMarkedCorpus makes sure that each way occurs in the sample, and that of a forged case the reasons fail and nothing else.
func TestMarkedCorpus(t *testing.T) {
	vias, forged := map[slice.Via]int{}, 0
	for _, c := range markedCorpus(t) {
		if c.name == "marked" {
			for _, turn := range parsed(c.files[bundleFile]).Turns {
				vias[turn.Admission.Via]++
			}
		}
		if c.fails == nil {
			continue
		}
		forged++
		for _, check := range c.judge(t).Checks {
			if (check.Status == slice.StatusFail) != (check.ID == slice.CheckAdmissions) {
				t.Errorf("%s: %s %s: %s", c.name, check.ID, check.Status, check.Detail)
			}
		}
	}
	if vias[slice.ViaPrompt] == 0 || vias[slice.ViaTouch] == 0 || vias[slice.ViaSibling] == 0 || vias[slice.ViaParent] == 0 || forged < 15 {
		t.Errorf("ways %v, %d forged cases", vias, forged)
	}
}
