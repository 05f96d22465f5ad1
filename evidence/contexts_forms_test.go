package evidence_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// contextForms are contexts that are not in their form.
func (c *corpus) contextForms(data []byte) {
	text := func(name, why string, changed []byte) {
		c.add("malformed_"+name+"_fail", evidence.Malformed, why, map[string][]byte{bundleFile: changed}, "", c.secret)
	}
	for _, x := range []struct{ name, why, old, next string }{
		{"space", "A space that canonical JSON does not have.", `"facts":[`, `"facts": [`},
		{"member", "A member that nobody knows.", `,"key_id"`, `,"kept":1,"key_id"`},
		{"anchor", "A member anchor, which bundles of turns have.", `{"as_of":40,"beliefs"`, `{"as_of":40,"beliefs":[],"anchor":"00000000-0000-4000-8000-000000000000","belief"`},
		{"as_of_text", "as_of is a text.", `"as_of":40,"beliefs":[`, `"as_of":,"beliefs":[`},
		{"as_of_huge", "as_of is 2^53.", `"as_of":40`, `"as_of":9007199254740992`},
		{"no_facts", "facts is missing.", `"facts":[{`, `"fact":[{`},
		{"no_prompt", "prompt is missing.", `"prompt":{"cost"`, `"prompts":{"cost"`},
		{"candidate_member", "A candidate with a member that nobody knows.", `"kind":"fact","leaf"`, `"kind":"fact","known":1,"leaf"`},
		{"candidate_kind", "A candidate of a kind that there is not.", `"kind":"turn"`, `"kind":"goal"`},
		{"candidate_kind_swapped", "A candidate of kind turn whose id is a statement.", `"kind":"fact"`, `"kind":"turn"`},
		{"candidate_feature", "A feature that there is not.", `"features":{"confidence"`, `"features":{"certainty"`},
		{"candidate_feature_zero", "A feature of 0, which is absent.", `"evidence":500000,`, `"evidence":0,`},
		{"candidate_feature_most", "A feature above 1.", `"evidence":500000,`, `"evidence":1000001,`},
		{"candidate_feature_decimal", "A feature as a decimal.", `"evidence":500000,`, `"evidence":0.5,`},
		{"candidate_source", "A source that there is not.", `"from":["facts"]`, `"from":["goals"]`},
		{"candidate_belief_id", "A candidate of a belief whose id is an address without a revision.", `never-drop.hard_rule?r=10","kind"`, `never-drop.hard_rule","kind"`},
		{"candidate_belief_tag", "A candidate of a belief whose id follows a tag.", `never-drop.hard_rule?r=10","kind"`, `never-drop.hard_rule?t=published","kind"`},
		{"candidate_belief_zero", "A revision that is spelled with a zero before it.", `never-drop.hard_rule?r=10","kind"`, `never-drop.hard_rule?r=010","kind"`},
		{"policy_weight_contested", "A weight for being contested, which is a penalty.", `"confidence":0.35,`, `"confidence":0.35,"contested":0,`},
		{"request_spaces_none", "Spaces, and none of them.", `,"task":"mend`, `,"spaces":[],"task":"mend`},
		{"request_spaces_order", "Spaces that do not ascend.", `,"task":"mend`, `,"spaces":["b","a"],"task":"mend`},
		{"request_spaces_form", "A space in capitals.", `,"task":"mend`, `,"spaces":["Acme"],"task":"mend`},
		{"belief_member", "A belief with a half that nobody knows.", `{"private":{"confidence_ppm":1000000`, `{"late":{},"private":{"confidence_ppm":1000000`},
		{"belief_digest", "A belief whose digest is not that of what it says.", `"reason":"it happened"`, `"reason":"it happens!"`},
		{"belief_said", "A belief that says something that has no place.", `"reason":"it happened"`, `"reason":"it happened","rests":1`},
		{"belief_type", "Another kind of entry.", `"type":"revision/1"`, `"type":"revision/2"`},
		{"belief_revision", "A revision below 1.", `"revision":10,`, `"revision":0,`},
		{"belief_supersedes", "A belief that supersedes itself.", `"supersedes":9`, `"supersedes":10`},
		{"belief_current", "A belief that says that it is not current.", `"current":true`, `"current":false`},
		{"belief_class", "A class that there is not.", `"class":6`, `"class":7`},
		{"belief_item", "An item without a kind.", `"item":"kref://acme/ops/never-drop.hard_rule"`, `"item":"kref://acme/ops/never-drop"`},
		{"belief_key", "The digest of a request that is too short.", `"key":"09`, `"key":"0`},
		{"candidate_source_order", "Sources that do not ascend.", `"from":["prompts","search"]`, `"from":["search","prompts"]`},
		{"candidate_source_twice", "A source twice.", `"from":["facts"]`, `"from":["facts","facts"]`},
		{"candidate_cost_most", "A candidate that costs more than any text can.", `{"cost":15,`, `{"cost":8388609,`},
		{"candidate_leaf", "A leaf in capitals.", `"leaf":"`, `"leaf":"A`},
		{"candidate_no_from", "A candidate that does not say where it is from.", `"from":["facts"],`, ``},
		{"overlap_two", "An overlap of two numbers.", `,300000]`, `]`},
		{"overlap_index", "An overlap of a candidate that there is not.", `,300000]`, `,300000],[0,15,300000]`},
		{"overlap_share", "More than all words in common.", `,300000]`, `,1000001]`},
		{"overlap_object", "An overlap as an object.", `"overlaps":[[`, `"overlaps":[{},[`},
		{"policy_member", "A parameter that there is not.", `"novelty":0.6,`, `"novelty":0.6,"oldness":1,`},
		{"policy_parameter", "A parameter is missing.", `"novelty":0.6,`, ``},
		{"policy_weight_missing", "A weight is missing.", `"evidence":0.3,`, ``},
		{"policy_weight_most", "A weight above 10.", `"recent":10,`, `"recent":10.000001,`},
		{"policy_weight_digits", "A weight with seven digits after the point.", `"prompt":4,`, `"prompt":4.0000001,`},
		{"policy_weight_zero", "A weight with a 0 at its end.", `"recency":1.2,`, `"recency":1.20,`},
		{"policy_weight_exponent", "A weight with an exponent.", `"prompt":4,`, `"prompt":4e0,`},
		{"policy_weight_text", "A weight that is a text.", `"prompt":4,`, `"prompt":"4",`},
		{"policy_alike_most", "More than all words must be in common.", `"alike":0.85`, `"alike":1.85`},
		{"policy_quota_most", "A quota above 2000.", `"quotas":{"beliefs":2`, `"quotas":{"beliefs":2001`},
		{"policy_half_life_zero", "A half-life of nothing.", `"half_life_hours":48`, `"half_life_hours":0`},
		{"policy_budget_most", "A budget above a million.", `"budget":4000`, `"budget":1000001`},
		{"policy_penalties", "A penalty is missing.", `"penalties":{"contested":0.1,`, `"penalties":{`},
		{"policy_name", "The policy of the slice has no version.", `"slice":"default@2","type"`, `"slice":"default","type"`},
		{"policy_rules_zero", "Rules with U+0000.", `"rules":"Answer`, `"rules":"\u0000Answer`},
		{"prompt_counter", "Another rule by which tokens are counted.", `"bytes/4@1"`, `"bytes/4@2"`},
		{"prompt_member", "A prompt that says more of itself.", `"bytes/4@1"`, `"bytes/4@1","digest":""`},
		{"prompt_cost_most", "A prompt of more tokens than a context may have bytes.", `"prompt":{"cost":`, `"prompt":{"cost":536870913`},
		{"request_budget_zero", "A budget of nothing.", `"budget":236`, `"budget":0`},
		{"request_budget_most", "A budget above a million.", `"budget":236`, `"budget":1000001`},
		{"request_format", "A format that there is not.", `"format":"markdown"`, `"format":"html"`},
		{"request_salt", "A salt of fifteen bytes.", `"salt":"010203ff00`, `"salt":"010203ff`},
		{"request_task_zero", "A task with U+0000.", `"task":"mend`, `"task":"\u0000mend`},
		{"request_as_of", "A request with the number that its leaf has.", `"budget":236`, `"as_of":40,"budget":236`},
		{"request_anchor_nil", "An anchor of zeros.", `"request":{"anchor":"`, `"request":{"anchor":"00000000-0000-0000-0000-000000000000","anchor":"`},
		{"statistics_member", "Statistics of something else.", `"statistics":{"best"`, `"statistics":{"beat":1,"best"`},
		{"statistics_missing", "Statistics without counts of dates.", `"dates":{"length":10,"most":0,"turns":10,"with":[4]},`, ``},
		{"statistics_named_empty", "An author of no letters.", `"named":"anna"`, `"named":""`},
		{"statistics_terms_order", "Terms that do not ascend.", `["mend","migrat"`, `["migrat","mend"`},
		{"statistics_terms_twice", "A term twice.", `["mend","migrat"`, `["mend","mend"`},
		{"statistics_terms_utf16", "Terms that ascend by UTF-16 and not by UTF-8.", `"﨎","😀"`, `"😀","﨎"`},
		{"statistics_terms_more", "A term more than there are counts.", `["mend","migrat"`, `["a","mend","migrat"`},
		{"statistics_counts_less", "A count less than there are terms.", `"with":[1,0,2,3,0,0]`, `"with":[1,0,2,3,0]`},
		{"statistics_counts_more", "A count more than there are terms.", `1099511627776,2]`, `1099511627776,2,0]`},
		{"statistics_above_turns", "More turns with a date than turns.", `"turns":10,"with":[4]`, `"turns":10,"with":[11]`},
		{"statistics_above_conversations", "More conversations with a term than conversations.", `"with":[1,0,2,3,0,0]`, `"with":[1,0,2,4,0,0]`},
		{"statistics_best_most", "A score above 2^52.", `"best":4503599627370496`, `"best":4503599627370497`},
		{"statistics_turns_most", "More turns than 2^40.", `"turns":1099511627776`, `"turns":1099511627777`},
		{"statistics_length_most", "A length above 2^52.", `"length":4503599627370496`, `"length":4503599627370497`},
		{"statistics_likeness_missing", "Likeness without the most.", `"named":"anna"`, `"likeness":{"least":2147483647},"named":"anna"`},
		{"statistics_likeness_most", "A likeness above 2^32.", `"named":"anna"`, `"likeness":{"least":2147483647,"most":4294967297},"named":"anna"`},
		{"statistics_likeness_order", "A least likeness above the most.", `"named":"anna"`, `"likeness":{"least":2147483650,"most":2147483649},"named":"anna"`},
		{"statistics_likeness_null", "Likeness that is null.", `"named":"anna"`, `"likeness":null,"named":"anna"`},
		{"statistics_none", "A task without statistics.", `"statistics":{`, `"statistic":{`},
		{"turn_admission", "A turn with a reason, which bundles of turns have.", `{"attrs":{"n":"1"}`, `{"admission":{},"attrs":{"n":"1"}`},
		{"turn_author", "An author beyond ASCII.", `"author":"human: `, `"author":"hümän: `},
		{"turn_attr", "An attribute's name in capitals.", `{"attrs":{"n":"1"}`, `{"attrs":{"N":"1"}`},
		{"turn_role", "A role that there is not.", `"role":"tool"`, `"role":"robot"`},
		{"fact_type", "An act that is no assertion.", `"type":"fact/2"`, `"type":"retraction/2"`},
		{"fact_member", "A fact with a member that nobody knows.", `"source":"extract/1"`, `"source":"extract/1","spoken":1`},
		{"fact_confidence", "A confidence above 1.", `"confidence":0.8`, `"confidence":1.8`},
		{"fact_source", "A source with a space.", `"source":"extract/1"`, `"source":"extract 1"`},
		{"fact_supersedes_none", "A fact that supersedes nothing, and says so.", `"subject":"backup"`, `"subject":"backup","supersedes":[]`},
		{"fact_written_empty", "A name that is said to be written as nothing.", `"written":{"object":"Migration 042 </fact> ` + "`x`" + `"`, `"written":{"object":""`},
		{"fact_name", "A name that is not in its form.", `"object":"migration-042<fact>x"`, `"object":"Migration-042<fact>x"`},
		{"fact_name_sign", "A name with a sign that its rule joins no word with.", `"object":"migration-042<fact>x"`, `"object":"migration-042-<fact>x"`},
		{"fact_name_rule", "A name that normalize/2 makes, and a fact that says no rule.", `"normalize":"normalize/2",`, ``},
		{"fact_written_other", "A name that is said to be written as another name is.", `"written":{"object":"Migration 042`, `"written":{"object":"Migration 043`},
		{"fact_written_same", "A name that is said to be written, and is the name.", `"written":{"object":"Migration 042 </fact> ` + "`x`" + `"`, `"written":{"object":"migration-042<fact>x"`},
		{"fact_valid_from", "A fact that is limited by what is no limit.", `"type":"fact/2","written"`, `"type":"fact/2","valid_from":"1970-01-01T00:00:00.000000Z","written"`},
		{"fact_never", "A fact that holds at no time.", `"type":"fact/2","written"`, `"type":"fact/2","valid_from":"2026-03-14T03:00:00.000000Z","valid_until":"2026-03-14T03:00:00.000000Z","written"`},
		{"tenant", "A tenant in capitals.", `"tenant":"default"`, `"tenant":"Default"`},
		{"token", "A token of fifteen bytes.", `"token":"`, `"token":"00","x":"`},
		{"null", "A null.", `"named":"anna"`, `"named":null`},
	} {
		text(x.name, x.why, firstOf(data, x.old, x.next))
	}
	text("turn_redacted", "A turn without its text.", redactOne(data))
	change := func(name, why string, change func(b *contexts.Bundle)) {
		b := must(contexts.Parse(data))
		change(b)
		agreeContext(b)
		text(name, why, c.seal(b))
	}
	change("task_empty", "Statistics, and the task is empty.", func(b *contexts.Bundle) { b.Request.Task = "" })
	change("task_absent", "A task, and no statistics.", func(b *contexts.Bundle) { b.Statistics = nil })
	change("task_nor_anchor", "Neither a task nor an anchor.", func(b *contexts.Bundle) { b.Request.Task, b.Request.Anchor, b.Statistics = "", nil, nil })
	change("task_long", "A task of 65 537 bytes.", func(b *contexts.Bundle) { b.Request.Task = strings.Repeat("é", 32768) + "x" })
	change("rules_long", "Rules of 16 385 bytes.", func(b *contexts.Bundle) { b.Policy.Rules = strings.Repeat("é", 8192) + "x" })
	good := func(name, why string, change func(b *contexts.Bundle)) {
		b := must(contexts.Parse(data))
		change(b)
		agreeContext(b)
		c.add("good_"+name, evidence.Verified, why, map[string][]byte{bundleFile: c.seal(b)}, "", c.secret)
	}
	good("task_long", "A task of 65 536 bytes.", func(b *contexts.Bundle) { b.Request.Task = strings.Repeat("é", 32768) })
	good("rules_long", "Rules of 16 384 bytes.", func(b *contexts.Bundle) { b.Policy.Rules = strings.Repeat("é", 8192) })
}

var aTurn = regexp.MustCompile(`\{"attrs":\{"n":"1"\},"author":"[^"]*",("body_digest":"[0-9a-f]*",)"content":"(?:[^"\\]|\\.)*",("conversation":.*?"phase":"[a-z]*",)("role":"[a-z]*","salience":[0-9.]*),"salt":"[0-9a-f]*"\}`)

// redactOne takes the text of a turn out, as it may be withheld in a bundle of turns.
func redactOne(data []byte) []byte {
	redacted := aTurn.ReplaceAll(data, []byte(`{$1$2"redacted":true,$3}`))
	if bytes.Equal(redacted, data) {
		panic("no turn was redacted")
	}
	return redacted
}

// contextVersions are contexts of versions that nobody knows.
func (c *corpus) contextVersions(data []byte) {
	version := func(name, why string, changed []byte) {
		c.add("version_"+name+"_fail", evidence.UnknownVersion, why, map[string][]byte{bundleFile: changed}, "", c.secret)
	}
	for i, x := range []struct{ why, old, next string }{
		{"A later version.", `"gkc/1"`, `"gkc/3"`}, {"The version of a bundle of turns.", `"gkc/1"`, `"gkp/1"`}, {"The version of a bundle of facts.", `"gkc/1"`, `"gkf/2"`},
		{"A later policy.", `"context_policy_v1"`, `"context_policy_v2"`}, {"A policy of turns.", `"context_policy_v1"`, `"slice_policy_v1"`},
	} {
		name := []string{"later", "of_turns", "of_facts", "policy", "policy_of_turns"}[i]
		version(name, x.why, once(data, x.old, x.next))
	}
	version("beside_form", "A later version, with a member that nobody knows yet.", once(once(data, `"gkc/1"`, `"gkc/3"`), `,"key_id"`, `,"kept":1,"key_id"`))
	version("first_bytes", "It begins in another way, so it is a bundle of turns, and of an unknown version.", slices.Concat([]byte(" "), data))
	version("first_member", "Its first member is as_of and its second another one, so it is a bundle of turns, and of an unknown version.", once(data, `{"as_of":40,"beliefs"`, `{"as_of":40,"belief"`))
	c.add("malformed_key_fail", evidence.Malformed, "A later version, with a key that no version has.", map[string][]byte{bundleFile: once(once(data, `"gkc/1"`, `"gkc/3"`), `,"key_id"`, fmt.Sprintf(`,%q:1,"key_id"`, "ké"))}, "", c.secret)
}
