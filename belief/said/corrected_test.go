package said

import "testing"

// TestCorrected compares a correction that names the old value with the text of the new value alone. A correction that denies anything else has no slot.
func TestCorrected(t *testing.T) {
	for text, alone := range map[string]string{
		"we use npm, not pnpm":                      "we use npm",
		"actually we use npm, not pnpm.":            "we use npm",
		"The port is not 8080 but 8443":             "The port is 8443",
		"the port is 8443, not 8080":                "the port is 8443",
		"Actually, we use npm":                      "we use npm",
		"indent with tabs, not spaces":              "indent with tabs",
		"Deploys happen on Fridays, not Tuesdays":   "Deploys happen on Fridays",
		"the default branch is not master but main": "the default branch is main",
	} {
		got, err := Of(text, "")
		want, failed := Of(alone, "")
		if err != nil || failed != nil || got != want || want.Predicate == soPred {
			t.Errorf("%q is %+v, %v; want %+v of %q, %v", text, got, err, want, alone, failed)
		}
	}
	for _, text := range []string{
		"we use npm, not at night", "the port is 8443, not the", "we use npm, not bert", "use tabs, not npm", "use npm, not tabs", "indent with tabs, not twice", "not now but later", "we use npm and not", "is it npm, not pnpm, or yarn", "use npm, not 8080",
		"we do not use npm but like it", "the port is not open but 8443 is",
	} {
		if got, err := Of(text, ""); err != nil || got.Predicate != soPred && got.Predicate != keyPred {
			t.Errorf("%q is %+v, %v; want no slot", text, got, err)
		}
	}
}
