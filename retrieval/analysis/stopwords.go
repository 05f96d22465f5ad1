package analysis

import "strings"

// stopWords are the English words of grammar, which say nothing about the subject of a text.
var stopWords = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`
		a an the this that these those
		i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
		am is are was were be been being do does did doing have has had having
		will would shall should can could may might must
		and or but nor so yet if then than as because while until
		of at by for with about against between into through during before after above below to from up down in out on off over under
		what which who whom whose when where why how
		not no yes just also very too only own same such both each few more most other some any all
		here there again once
		i'm i've i'd i'll you're you've it's that's there's what's he's she's we're they're don't doesn't didn't isn't wasn't
		s t re ve ll d m`) {
		words[w] = true
	}
	return words
}()
