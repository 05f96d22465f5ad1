// Package normalize owns the names of entities: the one canonical form of a name,
// and the tables that say which names stand for which. It is pure.
//
// Rule normalize/1, which [Name] applies:
//
//	step  what                                                      example
//	1     at most 2048 bytes of valid UTF-8, else ErrForm
//	2     characters without a shape are dropped: zero-width         "New\u00adYork"
//	      spaces and joiners, soft hyphens, variation selectors
//	3     NFKC and full Unicode case folding, until nothing changes  "Straße" → "strasse", "Ｎ" → "n"
//	4     white space, control characters, punctuation (category P)  "O'Neil, J." → "o-neil-j"
//	      and the symbols < = > ^ ` | ~ separate words
//	5     + and # stay, but where a word would begin with them       "C++" → "c++", "#12" → "12"
//	6     every other symbol stays                                   "A$AP" → "a$ap", "🎉" → "🎉"
//	7     a combining mark that has no character to stand on goes
//	8     words are joined with one '-'; "-" itself separates words  "--New  York-" → "new-york"
//	9     nothing left is ErrEmpty, more than 2048 bytes ErrForm     "..." is refused
//
// The form is a fixed point: Name(Name(x)) is Name(x) for every x that has a name.
//
// Two names that are made one cannot be parted again, while two that were kept
// apart can be joined by an alias. So what may tell things apart stays: + and #, for
// C, C++ and C# would be one name; currency signs; emoji. The price is that
// "#golang" is "golang" but "C#7" is not "c-7". NFKC, and not NFC, is the one
// exception: full width letters, ligatures and circled digits come out of documents and
// keyboards, not out of meaning. Its price is that 10⁶ and 106 are one name. Folding
// knows no language: "İstanbul" keeps the dot (i with U+0307), so it is not
// "istanbul"; [Suggest] finds such pairs.
//
// The tables are those of Unicode 15. A test holds a digest of what the rule gives for
// every code point; other tables that change it are another rule, normalize/2.
//
// A [Table] holds aliases, [ReadAliases] reads lists of them, and [Suggest] proposes
// pairs for a person to decide on. Nothing here guesses: what is ambiguous is an error
// or a report.
package normalize
