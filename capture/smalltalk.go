package capture

import (
	"slices"
	"strings"
	"unicode"
)

// smallTalk are words of greetings, thanks and assent.
const smallTalk = `
		hi hello hey hiya yo howdy greetings morning afternoon evening night good day there
		thanks thank thx ty cheers much appreciated welcome you your so very a lot the all for that this
		ok okay k kk yes yep yeah yup sure no nope nah fine great nice cool perfect awesome excellent wonderful brilliant super well done lovely
		please go on ahead continue proceed next again do it now right correct exactly agreed lgtm sounds looks is i
		bye goodbye later see cu soon stop exit quit
		hallo moin servus danke dankeschön bitte ja nein gut weiter tschüss schön vielen dank guten tag morgen abend
		bonjour salut merci oui non bien continuez beaucoup
		hola gracias sí si vale bueno bien adelante muchas
		ciao grazie olá obrigado obrigada sim não
		привет спасибо да нет хорошо 你好 谢谢 好 是 はい ありがとう こんにちは`

// maxSmallTalk is the largest number of words of a prompt that can be small talk.
const maxSmallTalk = 6

// IsSmallTalk reports whether a prompt asks nothing that a history could answer: it is empty, or consists of at most six words
// of greetings, thanks and assent.
func IsSmallTalk(prompt string) bool {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && r != '\''
	})
	if len(words) > maxSmallTalk {
		return false
	}
	known := strings.Fields(smallTalk)
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(known, strings.Trim(w, "'")) })
}
