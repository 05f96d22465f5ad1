package evidence_test

import (
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// TestEveryKindOfLeaf makes sure that the judge knows the form of each kind of leaf that a store
// knows: it refuses one that has no members of its own, and names the version of a later one.
func TestEveryKindOfLeaf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forms := append(kinds.Leaves(), ledger.Form{Kind: ledger.KindErasure}, ledger.Form{Kind: ledger.KindKey})
	for _, form := range forms {
		for version, want := range map[string]evidence.Outcome{ledger.Version: evidence.Malformed, "gkl/2": evidence.UnknownVersion} {
			p := ledger.Proof{Leaf: fmt.Appendf(nil, `{"type":%q,"version":%q}`, form.Kind, version), Checkpoint: w.checkpoint()}
			if v := (evidence.Judge{}).JudgeProof(p.Append(nil)); v.Outcome != want {
				t.Errorf("%s: %s (%s), want %s", p.Leaf, v.Outcome, v.Reason, want)
			}
		}
	}
	if len(forms) < 5 {
		t.Errorf("%d kinds", len(forms))
	}
}
