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

// TestShares counts a word that is misspelt as the word that is near, and a word that nothing has for none.
func TestShares(t *testing.T) {
	terms := [][]string{termsOf("Kubernetes runs the jobs"), termsOf("The jobs run at night"), termsOf("Lunch is at noon")}
	for asked, want := range map[string]int{"kubrenetes": 0, "kubernetes xyzzy": 0, "night": 1, "lunch": 2} {
		got := shares(termsOf(asked), terms)
		for i, share := range got {
			if (share > 0) != (i == want) {
				t.Errorf("%q: %v", asked, got)
			}
		}
	}
	if all, half := shares(termsOf("night jobs"), terms), shares(termsOf("night xyzzy"), terms); all[1] <= all[0] || half[1] >= all[1] {
		t.Errorf("%v, %v", all, half)
	}
}
