package main

import (
	"bytes"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// twinScripts are command lines for each family, which are run on a store and against a service over a copy of
// it. DIR is a folder of each side's own, which holds files that the last one names. Lines that
// begin with a tilde fail on both sides. Those that begin with an at sign say which place it is, so only their exit codes are compared.
var twinScripts = map[string]string{
	"standing": `
standing show
--output json standing show
standing list 1c1de000-0dc0-4a11-8ca1-0000000000a0
--output json standing list 1c1de000-0dc0-4a11-8ca1-0000000000a0 --limit 3
standing list 1c1de000-0dc0-4a11-8ca1-0000000000a0 --only guest
~standing list 1c1de000-0dc0-4a11-8ca1-00000000ffff
standing explain ANCHOR
--output json standing explain ANCHOR
~standing explain 00000000-0000-4000-8000-000000000000
standing set standing-service@1 --dry-run
--output json standing set standing-service@1 --dry-run
~standing set standing-service@1
~standing set default@1 --yes
~standing set none@1 --yes
standing set standing-service@1 --dry-run --retroactive
~standing person human:visitor king --yes
standing person human:visitor member --yes
standing person human:visitor member
standing explain 27de2cbd
`,
	"turns": `
import DIR/more.jsonl
--output json import DIR/more.jsonl
~import DIR/orphan.jsonl
show
--output json show
show 1c1de000-0dc0-4a11-8ca1-0000000000a0
show 1C1DE000-0DC0-4A11-8CA1-0000000000A0
show D93A7ABE --slice ANCHOR
show D93A7ABE
--output json show ANCHOR
show 1c1de000-0dc0-4a11-8ca1-0000000000b
~show 1c1de000
export --conversation 1c1de000-0dc0-4a11-8ca1-0000000000b
@status
@doctor
@watch --once DIR/more.jsonl
capture
--output json capture leave-out /secret
capture off
capture on
capture take-again /secret
~capture take-again /secret
~hook nobodys-agent
~hook resident a b
setup claude-code --undo --settings DIR/none.json
~setup nobodys-agent
export --conversation 1C1DE000-0DC0-4A11-8CA1-0000000000B0
import DIR/capitals.jsonl
show ANCHOR --slice ANCHOR
--output json show --slice ANCHOR --policy default@1 --as-of 20
~show absent
~show 00
show --key jwt:nobody
--output json show --key jwt:nobody 1c1de000-0dc0-4a11-8ca1-0000000000a0
show --role system
--output json show --role assistant 1c1de000-0dc0-4a11-8ca1-0000000000a0
--output json show --role user --key jwt:nobody
~show --role nobody
~show --key 'no key'
slice ANCHOR -o DIR/slice.json
--output json slice ANCHOR -o DIR/json.json
slice ANCHOR
slice d93a7abe --format markdown
--output json slice ANCHOR --format markdown
slice ANCHOR --format messages --as-of 22
~slice ANCHOR --policy absent@1
~slice ANCHOR --policy facts@1
~slice ANCHOR --as-of 999
~slice absent
atlas
--output json atlas
atlas overlap
--output json atlas influence --by rank -n 5
atlas influence
atlas communities
--output json atlas communities --of facts
atlas blame d93a7abe
--output json atlas blame ANCHOR --policy default@1
atlas manifest -o DIR/atlas.json
atlas replay DIR/atlas.json
~atlas verify DIR/atlas.json
~atlas verify DIR/slice.json
~atlas replay DIR/slice.json
~atlas blame absent
~atlas --as-of 999
atlas blame d93a7abe --as-of 26 --issued 1
~atlas influence --by nothing
working
@working put run-1 something --author human:ada --key k
~working put run-1 other --author human:ada --key k
@working put run-1 more --author tool:ci --role tool
@working list run-1
@--output json working
~working consolidate run-1 0b5e0000-0000-4000-8000-00000000ffff
working clear run-1
~working put run-1 text
search table deleted
--output json search why was the table deleted --explain --as-of 22
search --role user -n 2 backup
--output json search nothing-has-this-word
~search --limit 0 table
~search ...
~search table --as-of 999
~search table --policy facts@1
~brief
~brief DIR --bundle
context why was the table deleted
context why was the table deleted --anchor ANCHOR --budget 300 --format xml
--output json context why was the table deleted -o DIR/context.json --format bundle
--output json context table --format openai
context --anchor ANCHOR --format text --as-of 22
~context
~context table --budget 9000
~context table --policy default@1
~context table --policy absent@1
~context table --format html
~context table --as-of 999
~context table --anchor absent
context --find 'why was the table deleted' --budget 300
slice --find 'why was the table deleted' --format markdown
slice --batch DIR/anchors.txt --workers 3
show --find 'table deleted'
~slice --find xyzzy
slices
contexts
--output json slices --limit 2
slices --kind slice --since 2026-01-01 -n 3
--output json slices --kind context
~slices --kind nothing
~slices --limit 0
slices show ISSUED
slices show BEGIN
--output json slices show ISSUED
~slices show 00
~slices show absent
~contexts show ISSUED
slices get ISSUED -o DIR/slice-again.json
--output json slices get ISSUED -o DIR/slice-again-too.json
contexts show ASSEMBLED
contexts get ASSEMBLED -o DIR/context-again.json
~contexts get ISSUED -o DIR/none.json
erase --context ASSEMBLED --dry-run
erase --context ASSEMBLED --reason 'she asked'
--output json erase --context ASSEMBLED --reason again
~erase --context ISSUED --reason x
~contexts get ASSEMBLED
replay ASSEMBLED
contexts show ASSEMBLED
explain ANCHOR VISITOR
--output json explain ANCHOR VISITOR
--output json explain ANCHOR ANCHOR --as-of 22
~explain ANCHOR absent
policy add DIR/narrow.json
--output json policy add DIR/narrow.json
~policy add DIR/wider.json
~policy add DIR/broken.json
policy list
--output json policy list
policy show narrow@1
~policy show absent@1
slice ANCHOR --policy narrow@1 -o DIR/narrow-slice.json
export -o DIR/export.jsonl
--output json export -o DIR/export.json
export --conversation 1c1de000-0dc0-4a11-8ca1-0000000000b0
~export --conversation 00000000-0000-4000-8000-000000000001
erase WORD --reason 'the person asked'
erase WORD --reason again
--output json erase WORD --reason again
~erase absent --reason x
erase --search 'coupon previous' --dry-run
--output json erase --author human:b --dry-run
erase --author human:b --reason 'she asked' --yes
--output json erase --from 1 --to 2 --reason x --yes
~erase --from 1 --to 2 --reason x
~erase --conversation 00000000-0000-4000-8000-000000000001 --reason x --yes
~erase WORD
export
--output json import DIR/claude.jsonl
import --dry-run -v DIR/claude-edited.jsonl
import DIR/claude-edited.jsonl DIR/claude.jsonl
--output json import DIR/claude-edited.jsonl --format claude-code
import DIR/more.jsonl
--output json import DIR/more.jsonl
--output json import DIR/more.jsonl --dry-run
--output json import DIR/more.jsonl --skip nosuch --skip 1c1de000-0dc0-4a11-8ca1-0000000000b0
erase --search 'look at the index' --reason 'it is out' --yes
--output json import DIR/claude.jsonl
--output json show
`,
	"facts": `
knowledge add 'Ada Lovelace' wrote 'Note G' --confidence 0.9 --turn ANCHOR
--output json knowledge add 'Ada Lovelace' wrote 'Note G' --confidence 0.9 --turn ANCHOR
--output json knowledge add 'Ada Lovelace' 'lives in' London --from 2026-01-01
--output json knowledge import DIR/capital-facts.jsonl
knowledge add 'Ada Lovelace' 'lives in' Ockham --replace
--output json knowledge add 'Ada Lovelace' 'lives in' Ockham --replace
~knowledge add a b c --supersedes 0000000000000000000000000000000000000000000000000000000000000000
~knowledge add a b c --turn absent
~knowledge add a b c --slice 0123456789abcdef
--output json knowledge import DIR/facts.jsonl
knowledge import DIR/memory.jsonl
knowledge import DIR/memory.jsonl
~knowledge import DIR/evidence.jsonl
--output json knowledge extract
knowledge extract --after 3
~knowledge extract --conversation 00000000-0000-4000-8000-000000000001
knowledge list
--output json knowledge list
knowledge list --limit 2
--output json knowledge list --limit 2 --as-of 31
--output json knowledge list --entity 'note g' --min-confidence 0.5 --valid-at 2026-06-01
knowledge list --turn ANCHOR
~knowledge list --as-of 9999
~knowledge list --after nonsense
~knowledge list --subject ???
~knowledge traverse ???
~knowledge path ??? b
knowledge aliases add 'Countess of Lovelace' 'Ada Lovelace'
--output json knowledge aliases add 'Countess of Lovelace' 'Ada Lovelace'
~knowledge aliases add 'Countess of Lovelace' 'Charles Babbage'
knowledge add 'Countess of Lovelace' knew 'Charles Babbage' --source user
knowledge aliases list
--output json knowledge aliases list --of 'ada lovelace'
--output json knowledge aliases import DIR/aliases.csv --dry-run
knowledge aliases import DIR/aliases.csv
--output json knowledge aliases suggest
knowledge aliases suggest --reason spelling
knowledge traverse 'ada lovelace'
--output json knowledge traverse 'ada lovelace' --hops 2 --direction outgoing
knowledge traverse nobody
--output json knowledge traverse 'ada lovelace' --predicate knew --results 1
knowledge path 'charles babbage' 'note g' -k 3
--output json knowledge path 'charles babbage' 'note g'
~knowledge path nobody 'note g'
knowledge list --containing LOVE
~knowledge list --containing ' '
--output json knowledge list --containing 'note g' --limit 1
knowledge slice 'Ada Lovelace' -o DIR/facts.json
--output json knowledge slice Countess -o DIR/facts-json.json
knowledge slice 'Ada Lovelace' --valid-at 2026-06-01
~knowledge slice 'Ada Lovelace' --policy default@1
replay DIR/facts.json
~knowledge history e6ca4f5a9e9bf0a4a8e8b2b9e5c7f9d54bb0ae3f9f0f7e1a0f8cfc6b3e4a6f11
--output json knowledge history STATEMENT
knowledge history STATEMENT --as-of 30
~knowledge history 0000
~knowledge history STATEMENT --as-of 2
knowledge changes
--output json knowledge changes --after 27 --limit 3
--output json knowledge changes --limit 3 --as-of 30
~knowledge changes --as-of 9999
knowledge retract --subject 'ada lovelace' --predicate wrote --dry-run
--output json knowledge retract --subject 'ada lovelace' --predicate wrote --reason wrong
knowledge retract --source nobody
~knowledge retract
knowledge aliases remove 'Countess of Lovelace'
~knowledge aliases remove 'Countess of Lovelace'
`,
	"beliefs": `
belief
belief space acme/support
--output json belief space acme/support
policy add DIR/kinds.json
belief space acme/support --policy kinds@1
~belief space acme/support --policy default@1
~belief space acme/support --policy absent@1
~belief space Acme
belief revise acme/support 'Ada Lovelace' 'lives in' London --item kref://acme/support/ada.fact --title Home --turn d93a7abe --reason 'she said so'
--output json belief revise acme/support 'Ada Lovelace' speaks English --because '"Ada Lovelace" "lives in" London' --item kref://acme/support/tongue.fact
belief revise acme/support x y z --kind preference --from 2026-01-01 --until 2027-01-01
belief revise acme/support 'Ada Lovelace' 'lives in' Ockham --dry-run
--output json belief revise acme/support 'Ada Lovelace' 'lives in' Ockham --key move
belief revise acme/support 'Ada Lovelace' 'lives in' Ockham --key move
~belief revise acme/absent a b c
~belief revise acme/support a b c a b c
~belief revise acme/support a b c --turn absent
~belief expand acme/support 'Ada Lovelace' 'lives in' Rome
~--output json belief expand acme/support 'Ada Lovelace' 'lives in' Rome
belief expand acme/support bell rings loudly
belief contract acme/support bell rings loudly --reason wrong
--output json belief contract acme/support bell rings loudly
belief tag kref://acme/support/ada.fact published 2
--output json belief tag kref://acme/support/ada.fact seen 1
~belief tag kref://acme/support/ada.fact seen 9
~belief tag kref://acme/support/ada.fact current 1
~belief propose acme/support 'Ada Lovelace' 'lives in' Rome --reason overheard
--output json belief propose acme/support door state open
belief
--output json belief
belief conflicts acme/support
--output json belief conflicts acme/support
~belief conflicts acme/absent
belief promote acme/support --dry-run
--output json belief promote acme/support
~belief promote acme/support --policy default@1
belief cascade acme/support
--output json belief cascade acme/support --dry-run
belief rules acme/support
--output json belief rules acme/support
~belief rules acme/absent
belief used kref://acme/support/ada.fact
--output json belief used kref://acme/support/ada.fact --failed
~belief used kref://acme/support/none.fact
~belief resolve acme/support 999 dropped
~belief resolve acme/support x dropped
belief decay acme/support
--output json belief decay acme/support --dry-run --least 0.5
~belief decay acme/support --least x
~belief decay acme/absent
belief abstract acme/support poets 'live in' towns --from kref://acme/support/ada.fact --specificity 0.4 --dry-run
--output json belief abstract acme/support poets 'live in' towns --from kref://acme/support/ada.fact --specificity 0.9 --dry-run
~belief abstract acme/support poets 'live in' towns --from kref://acme/support/absent.fact --specificity 0.4
~belief abstract acme/support 'Ada Lovelace' 'lives in' Ockham --from kref://acme/support/ada.fact --specificity 0.4
belief archive acme/support --dry-run
--output json belief archive acme/support --file DIR/none.archive
~belief archive acme/absent --dry-run
~belief unarchive --file DIR/trust
--output json belief persona export acme/support --alias 'ada lovelace=poet' -o DIR/persona
belief persona export acme/support --alias 'ada lovelace=poet' --person Zed -o DIR/persona
~belief persona export acme/absent
~belief persona export acme/support --alias support=help
belief persona import acme/support DIR/persona --trust DIR/trust --dry-run
--output json belief persona import acme/support DIR/persona --trust DIR/trust --dry-run
~belief persona import acme/absent DIR/persona --trust DIR/trust
~belief persona import acme/support DIR/trust --trust DIR/trust
belief base acme/support
--output json belief base acme/support --as-of 32 --subject 'ada lovelace'
belief base acme/support --valid-at 2026-06-01
~belief base acme/absent
~belief base acme/support --as-of 999
belief why acme/support 'Ada Lovelace' 'lives in' Ockham
--output json belief why acme/support 'Ada Lovelace' 'lives in' London
belief why acme/support 'Ada Lovelace' 'lives in' London --not
~belief prove acme/support 'Ada Lovelace' 'lives in' Paris
~belief prove acme/absent a b c
context 'where does ada live' --space acme/support --budget 300
~context 'where does ada live' --space acme/absent
~context 'where does ada live' --space Acme
belief diff acme/support 29
--output json belief diff acme/support 29 31
~belief diff acme/support 29 999
belief items acme/support
--output json belief items acme/support --limit 2
belief items acme/support --after ada.fact
~belief items acme/absent
belief show kref://acme/support/ada.fact
--output json belief show kref://acme/support/ada.fact?r=1
~belief show kref://acme/support/ada.fact?r=9
~belief show kref://acme/support/absent.fact
belief link kref://acme/support/tongue.fact?r=1 depends_on kref://acme/support/ada.fact?r=2
--output json belief link kref://acme/support/tongue.fact?r=1 created_from turn:d93a7abe
~belief link kref://acme/support/tongue.fact?r=1 depends_on kref://acme/support/ada.fact?r=9
~belief link kref://acme/support/tongue.fact?r=1 depends_on nothing
belief impact kref://acme/support/ada.fact
--output json belief impact kref://acme/support/ada.fact?r=2
belief tag kref://acme/support/ada.fact published none
belief deprecate kref://acme/support/ada.fact --reason 'another Ada'
--output json belief deprecate kref://acme/support/ada.fact
belief revise acme/support 'Ada Lovelace' 'lives in' Rome
~belief restore kref://acme/support/ada.fact
~--output json belief restore kref://acme/support/ada.fact
~belief revise acme/support a b c --item kref://acme/support/ada.fact
`,
	"memories": `
remember 'Deploys happen on Tuesdays only.' --project general --rule
--output json remember 'prefers tabs' --project general --preference --dry-run
remember 'prefers tabs' --project general --reason 'said so' --key look
remember 'prefers spaces' --project general --key look
~remember 'prefers spaces' --project general --kind prefrence
~remember 'x' --instead abcdef01
@brief DIR
memories
memories when do we deploy
--output json memories deploys --project general
memories --proposed
memories --as-of 1
~memories --as-of 999
why deploys
--output json why spaces
~why nonsense
history spaces
--output json history spaces
links spaces
--output json links spaces --depth 3
forget deploys --yes
~forget xyzzy --yes
~accept w999
~accept abcdef01 --yes
~refuse w999
why deploys
memories --kind hard_rule
`,
	"audit": `
slice ANCHOR -o DIR/slice.json
replay DIR/slice.json
--output json replay DIR/slice.json
~replay DIR/narrow.json
~replay 0123456789abcdef
replay ISSUED
replay BEGIN
attest DIR/slice.json -o DIR/evidence
--output json attest DIR/slice.json -o DIR/evidence-json
~attest DIR/narrow.json -o DIR/none
convert DIR/slice.json --to prov
--output json convert DIR/slice.json --to openlineage -o DIR/lineage.json
log checkpoint -o DIR/old.checkpoint
--output json log checkpoint
policy add DIR/narrow.json
log list
--output json log list -n 2
~log list -n 0
log prove 0
--output json log prove 1
log prove DIR/slice.json -o DIR/proof
log prove ISSUED -o DIR/proof-by-id
log prove BEGIN
~log prove 0123456789abcdef
~log prove 9999
~log prove DIR/narrow.json
log prove --since DIR/old.checkpoint -o DIR/history
log monitor --trust DIR/trust --state DIR/state
--output json log monitor --trust DIR/trust --state DIR/state
convert DIR/slice.json --to sigstore -o DIR/sigstore
knowledge add 'Ada Lovelace' wrote 'Note G'
knowledge slice 'Ada Lovelace' -o DIR/facts.json
attest DIR/facts.json -o DIR/facts-evidence
~convert DIR/facts.json --to prov
erase WORD --reason 'the person asked'
replay DIR/slice.json
~--output json replay DIR/slice.json --require-full
`,
	"signing": `
apikey list
apikey revoke SPARE
--output json apikey revoke SPARE
~apikey revoke 0123456789abcdef
apikey list
--output json apikey list
apikey create --role agent --admit-roles assistant --admit-authors agent:* --note 'the build farm'
--output json apikey create --role auditor
~apikey create --role nobody
~apikey create --role auditor --admit-roles user
`,
}

// twinFiles are what the scripts read.
var twinFiles = map[string]string{
	"anchors.txt":         "92a69352\nd93a7abe\n",
	"more.jsonl":          `{"attrs":{},"author":"human:b","content":"one","conversation":"1c1de000-0dc0-4a11-8ca1-0000000000b0","created_at":"2026-03-15T02:00:01.000000Z","id":"b0000000-0dc0-4a11-8ca1-000000000002","parents":[],"role":"user","salt":"be4c218bc9f7c482d7f6c0d170d2ea17"}` + "\n" + `{"attrs":{},"author":"human:b","content":"two","conversation":"1c1de000-0dc0-4a11-8ca1-0000000000b0","created_at":"2026-03-15T02:00:00.000000Z","id":"b0000000-0dc0-4a11-8ca1-000000000001","parents":[{"id":"` + demo.IncidentAnchor + `","kind":"reply"}],"role":"assistant","salt":"be4c218bc9f7c482d7f6c0d170d2ea18"}` + "\n",
	"orphan.jsonl":        `{"attrs":{},"author":"human:b","content":"one","conversation":"1c1de000-0dc0-4a11-8ca1-0000000000b0","created_at":"2026-03-15T02:00:01.000000Z","id":"b0000000-0dc0-4a11-8ca1-000000000009","parents":[{"id":"b0000000-0dc0-4a11-8ca1-000000000008","kind":"reply"}],"role":"user","salt":"be4c218bc9f7c482d7f6c0d170d2ea17"}` + "\n",
	"capitals.jsonl":      `{"attrs":{},"author":"human:b","content":"three","conversation":"1C1DE000-0DC0-4A11-8CA1-0000000000B0","created_at":"2026-03-15T02:00:01.000000Z","id":"B0000000-0DC0-4A11-8CA1-000000000003","parents":[{"id":"B0000000-0DC0-4A11-8CA1-000000000002","kind":"reply"}],"role":"user","salt":"be4c218bc9f7c482d7f6c0d170d2ea17"}` + "\n",
	"capital-facts.jsonl": `{"subject":"a","predicate":"spells","object":"b","turn":"D93A7ABE-0DC0-4A11-8CA1-000000000012"}` + "\n",
	"kinds.json":          `{"policy_id":"kinds@1","policy":{"type":"kind_policy_v1","functional":["lives in"],"exclusive":[{"predicate":"state","objects":["open","closed"]}]}}`,
	"narrow.json":         `{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":3}}`,
	"wider.json":          `{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":4}}`,
	"broken.json":         `{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":0}}`,
	"facts.jsonl":         `{"subject":"Charles Babbage","predicate":"designed","object":"Analytical Engine","confidence":0.75,"source":"books"}` + "\n" + `{"subject":"Note G","predicate":"describes","object":"Analytical Engine","valid_from":"2026-01-01","valid_until":"2027-01-01"}` + "\n",
	"memory.jsonl":        `{"type":"entity","name":"John Smith","entityType":"person","observations":["Speaks  fluent Spanish.","likes é"]}` + "\n" + `{"type":"relation","from":"John Smith","to":"Acme Corp","relationType":"works at"}` + "\n",
	"evidence.jsonl":      `{"subject":"a","predicate":"b","object":"c"}` + "\n" + `{"subject":"a","predicate":"b","object":"d","turn":"b0000000-0dc0-4a11-8ca1-000000000099"}` + "\n",
	"aliases.csv":         "alias,canonical\nC. Babbage,Charles Babbage\nCharlie,Charles Babbage\n",
	"claude.jsonl":        claudeLines("Look at the index."),
	"claude-edited.jsonl": claudeLines("Look at the table."),
}

func claudeLines(text string) string {
	const form = `{"type":"user","uuid":"c1000000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"c1000000-0000-4000-8000-0000000000c1","timestamp":"2026-03-15T03:00:00.000Z","message":{"role":"user","content":"TEXT"}}` + "\n"
	return strings.Replace(form, "TEXT", text, 1)
}

// twinEnv is a side of the comparison: commands on a store, or against a service.
type twinEnv struct {
	dir  string
	env  map[string]string
	rand io.Reader // of a store; a service has its own
}

func (e *twinEnv) run(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	config := testConfig()
	config.Getenv = func(name string) string { return e.env[name] }
	config.Stdout, config.Stderr, config.Rand = &stdout, &stderr, e.rand
	code = cli.New(config).Run(t.Context(), args)
	out = strings.ReplaceAll("stdout:\n"+stdout.String()+"stderr:\n"+stderr.String(), e.dir, "DIR")
	out = statedBy.ReplaceAllString(out, "${1} CALLER")
	if slices.ContainsFunc(args, func(a string) bool { return a == "belief" || a == "memories" || a == "why" || a == "links" }) {
		out = listedAs.ReplaceAllString(out, "$1$2$3$4 CALLER$5 ")
	}
	return code, askedBy.ReplaceAllString(spoolName.ReplaceAllString(out, "/SPOOL"), "$1$2$3$4 CALLER ")
}

// askedBy is where a command shows who asked, which is another one here and there.
var askedBy = regexp.MustCompile(`("by": "|, by |(?m:^it holds no longer: .* by )|(?m:^)asked by +)(?:local\b|[0-9a-f]{16}\b)|(  asked by)  +(asked for)|(?m:^)( [0-9a-f]{16}  (?:slice|facts|context) .* [0-9]+)  (?:local|[0-9a-f]{16})( *)`)

// statedBy matches the standing of a belief in a prompt. A belief stated with an API key is a member's, because the key's grants are not recorded with beliefs.
var statedBy = regexp.MustCompile("(?m)^(`kref://[^`]+`) (?:owner|member)\\b")

// listedAs matches the same in lists of beliefs: in the column of a table, in JSON and below a rule.
var listedAs = regexp.MustCompile(`(?m)^( since  whose) +|^( +[0-9]*  )(?:owner|member) +|("standing": ")(?:owner|member)\b|^(    )(?:owner|member)('s, kref)`)

// spoolName is where a spool is: each store and each service has one of its own, and each side another home.
var spoolName = regexp.MustCompile(`(/nobody)?/\.local/state/graphkernel/spool/[^/"]+`)

// files returns what a side has written.
func (e *twinEnv) files(t *testing.T) map[string]string {
	files := map[string]string{}
	if err := filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "store.db") || strings.Contains(path, "config") {
			return err
		}
		data, err := os.ReadFile(path)
		files[spoolName.ReplaceAllString(strings.TrimPrefix(path, e.dir), "/SPOOL")] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

// twins makes a store with a conversation and an API key, copies it, and serves the copy. granted are flags that say what the key may do.
func twins(t *testing.T, granted ...string) (here, there *twinEnv, spare string) {
	t.Helper()
	base := &twinEnv{dir: t.TempDir()}
	base.env = map[string]string{"HOME": base.dir, "XDG_CONFIG_HOME": filepath.Join(base.dir, "config"), "GRAPHKERNEL_STORE": "sqlite:" + filepath.Join(base.dir, "store.db")}
	for name, text := range twinFiles {
		if err := os.WriteFile(filepath.Join(base.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base.dir, "incident.jsonl"), demo.Incident, 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(args ...string) string {
		code, out := base.run(t, args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, out)
		}
		out, _, _ = strings.Cut(strings.TrimPrefix(out, "stdout:\n"), "\n")
		return out
	}
	for _, folder := range []string{"config/graphkernel", "state"} {
		if err := os.MkdirAll(filepath.Join(base.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	must("keys", "init")
	must("identity", "init", "--name", "kernel.example")
	must("identity", "trust", "-o", filepath.Join(base.dir, "trust"))
	must("import", filepath.Join(base.dir, "incident.jsonl"))
	key := must(append([]string{"apikey", "create", "--role", "admin"}, granted...)...)
	revocable, err := access.Parse(must("apikey", "create", "--role", "verifier"))
	if err != nil {
		t.Fatal(err)
	}
	here, there = &twinEnv{dir: t.TempDir()}, &twinEnv{dir: t.TempDir()}
	for _, e := range []*twinEnv{here, there} {
		if err := os.CopyFS(e.dir, os.DirFS(base.dir)); err != nil {
			t.Fatal(err)
		}
		for name := range base.files(t) {
			if err := os.Chmod(e.dir+name, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"keys.json", "identity.json"} {
			if err := os.Chmod(filepath.Join(e.dir, "config", "graphkernel", name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	here.rand = rand.NewChaCha8([32]byte{1})
	here.env = map[string]string{"HOME": here.dir, "XDG_CONFIG_HOME": filepath.Join(here.dir, "config"), "GRAPHKERNEL_STORE": "sqlite:" + filepath.Join(here.dir, "store.db")}
	there.env = map[string]string{"HOME": filepath.Join(there.dir, "nobody"), "GRAPHKERNEL_KEY": key, "GRAPHKERNEL_SERVER": serveTwin(t, there.dir)}
	return here, there, revocable.ID
}

// serveTwin serves the store in a folder, with the clock of testApp.
func serveTwin(t *testing.T, dir string) (url string) {
	t.Helper()
	clock := testApp().Clock
	ring, err := token.LoadKeyring(filepath.Join(dir, "config", "graphkernel", "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config", "graphkernel", "identity.json")
	id, err := identity.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: clock, Rand: rand.NewChaCha8([32]byte{1}), Identity: id, ErasureSecret: func(bool) ([]byte, error) { return make([]byte, 32), nil }, History: identity.HistoryBeside(path)})
	if err != nil {
		t.Fatal(err)
	}
	h, err := server.New(t.Context(), server.Config{Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now, Limits: server.Limits{Rate: 1e6, Burst: 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Stop()
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return web.URL
}

// words splits a line as a shell does that knows single quotes alone.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// TestServiceTwins runs a script of each family on a store and against a service, and compares what is
// printed, the exit codes and the files byte for byte.
func TestServiceTwins(t *testing.T) {
	t.Parallel()
	for family, script := range twinScripts {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			var granted []string
			if family == "turns" { // turns in a person's name are the owner's, as on a store; a key with this grant cannot create keys
				granted = []string{"--speaks-for", "human:*=owner"}
			}
			here, there, spare := twins(t, granted...)
			names := strings.NewReplacer("ANCHOR", demo.IncidentAnchor, "VISITOR", demo.IncidentVisitor, "WORD", demo.IncidentSecret, "SPARE", spare)
			lines := 0
			for line := range strings.Lines(strings.TrimSpace(script)) {
				line, fails := strings.CutPrefix(strings.TrimSpace(line), "~")
				line, differ := strings.CutPrefix(line, "@")
				var codes []int
				var outs []string
				for _, e := range []*twinEnv{here, there} {
					statement := ""
					if strings.Contains(line, "STATEMENT") {
						_, listed := here.run(t, "--output", "json", "knowledge", "list", "--predicate", "wrote")
						statement = regexp.MustCompile(`[0-9a-f]{64}`).FindString(listed)
					}
					named := map[string]string{}
					for word, kind := range map[string]string{"ISSUED": "slice", "BEGIN": "slice", "ASSEMBLED": "context"} {
						if strings.Contains(line, word) {
							_, listed := here.run(t, "--output", "json", "slices", "--kind", kind)
							named[word] = regexp.MustCompile(`"slice_id": "([0-9a-f]{16})"`).FindStringSubmatch(listed)[1]
							if word == "BEGIN" {
								named[word] = strings.ToUpper(named[word][:6])
							}
						}
					}
					args := words(names.Replace(line))
					for i := range args {
						args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], "DIR", e.dir), "STATEMENT", statement)
						for word, id := range named {
							args[i] = strings.ReplaceAll(args[i], word, id)
						}
					}
					code, out := e.run(t, args...)
					codes, outs = append(codes, code), append(outs, out)
				}
				if codes[0] != codes[1] || !differ && outs[0] != outs[1] {
					t.Errorf("%s: exit codes %v\non a store:\n%s\nagainst a service:\n%s", line, codes, outs[0], outs[1])
				} else if fails != (codes[0] != 0) {
					t.Errorf("%s: exit code %d\n%s", line, codes[0], outs[0])
				}
				lines++
			}
			if lines < 8 {
				t.Errorf("%d lines were run", lines)
			}
			want, got := here.files(t), there.files(t)
			for name, text := range want {
				if got[name] != text {
					t.Errorf("file %s: on a store\n%.600q\nagainst a service\n%.600q", name, text, got[name])
				}
				delete(got, name)
			}
			for name := range got {
				t.Errorf("file %s is written against a service alone", name)
			}
		})
	}
}

// TestServerFlag holds that each command either is in a script that runs against a service, or refuses --server and says why.
func TestServerFlag(t *testing.T) {
	t.Parallel()
	asked, refused := 0, 0
	for _, c := range everyCommand(testApp().Root()) {
		path := c.CommandPath()
		name, below := strings.CutPrefix(path, "graphkernel ")
		if !below || len(c.Commands()) > 0 {
			continue
		}
		e := &twinEnv{dir: t.TempDir()}
		e.env = map[string]string{"HOME": e.dir}
		isRefused := false
		for args := []string{"--server", "https://kernel.example"}; len(args) < 5 && !isRefused; args = append(args, "x") {
			code, out := e.run(t, append(strings.Fields(name), args...)...)
			isRefused = code == api.ExitUsage && strings.Contains(out, path+" takes no --server: ")
		}
		ran := slices.ContainsFunc(slices.Collect(strings.Lines(strings.Join(slices.Collect(maps.Values(twinScripts)), "\n"))), func(line string) bool {
			return regexp.MustCompile(`^[~@]?(--output json )?` + regexp.QuoteMeta(name) + `\b`).MatchString(line)
		})
		if isRefused == ran {
			t.Errorf("%s: refused %t, run against a service %t", path, isRefused, ran)
		}
		if isRefused {
			refused++
		} else {
			asked++
		}
	}
	if asked < 30 || refused < 20 {
		t.Errorf("%d commands ask a service, %d refuse", asked, refused)
	}
}

// TestServerSettings says which of a store and a service is asked.
func TestServerSettings(t *testing.T) {
	t.Parallel()
	here, there, _ := twins(t)
	url, key := there.env["GRAPHKERNEL_SERVER"], there.env["GRAPHKERNEL_KEY"]
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		code int
		says string
	}{
		"flag":         {map[string]string{"GRAPHKERNEL_KEY": key}, []string{"--server", url, "show"}, 0, "3 conversations"},
		"both flags":   {nil, []string{"--server", url, "--store", "sqlite:x.db", "show"}, api.ExitUsage, "exclude each other"},
		"store first":  {map[string]string{"GRAPHKERNEL_SERVER": "https://nowhere.invalid"}, []string{"--store", here.env["GRAPHKERNEL_STORE"], "show"}, 0, "3 conversations"},
		"no key":       {map[string]string{"GRAPHKERNEL_SERVER": url}, []string{"show"}, api.ExitUsage, "GRAPHKERNEL_KEY"},
		"wrong key":    {map[string]string{"GRAPHKERNEL_SERVER": url, "GRAPHKERNEL_KEY": "gk1.x"}, []string{"show"}, api.ExitInternal, "the service refused: "},
		"other tenant": {map[string]string{"GRAPHKERNEL_SERVER": url, "GRAPHKERNEL_KEY": key}, []string{"--tenant", "other", "show"}, api.ExitUsage, "the API key belongs to tenant default"},
		"this tenant":  {map[string]string{"GRAPHKERNEL_SERVER": url, "GRAPHKERNEL_KEY": key}, []string{"--tenant", "default", "show"}, 0, "3 conversations"},
		"own keys":     {map[string]string{"GRAPHKERNEL_SERVER": url, "GRAPHKERNEL_KEY": key}, []string{"--dev", "show"}, api.ExitUsage, "--dev"},
		"plaintext":    {map[string]string{"GRAPHKERNEL_KEY": key}, []string{"--server", "http://kernel.example", "show"}, api.ExitUsage, "unencrypted"},
	} {
		e := &twinEnv{dir: t.TempDir(), env: c.env}
		if code, out := e.run(t, c.args...); code != c.code || !strings.Contains(out, c.says) || strings.Contains(out, key) {
			t.Errorf("%s: exit code %d\n%s", name, code, out)
		}
	}
}
