package space

import "testing"

// TestWholeSentence holds which texts are whole sentences of others.
func TestWholeSentence(t *testing.T) {
	const said = "Hello. Deploys happen on Tuesdays only! And note: never force-push\nUse tabs, please. abc. b"
	for text, want := range map[string]bool{
		"Deploys happen on Tuesdays only!": true, "Deploys happen on Tuesdays only": true, "Hello. Deploys happen on Tuesdays only!": true, "never force-push": true, "Use tabs, please.": true, "b": true,
		"Use tabs": false, "force-push": false, "happen on Tuesdays only!": false, "Deploys happen": false, "": false, " ": false, "Deploys happen on Mondays only!": false,
	} {
		if wholeSentence(text, said) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
