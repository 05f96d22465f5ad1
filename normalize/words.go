package normalize

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Words returns the normal form in which the words of texts are compared: NFKC, in lower case, with one space between words and none
// around them.
func Words(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ")
}
