// Package normalize owns the names of entities: the canonical form of a name, and the tables
// that map aliases to canonical names. It is pure.
//
// There are two rules. [Name] applies the newest, normalize/2. normalize/1 exists for names
// that were learned under it; a caller who stores names must store the [Rule] with them.
//
// # normalize/2
//
// A name is either a literal, in which every byte counts, or a sequence of words.
//
// A literal is TYPE:VALUE, where TYPE is one of [Types] and VALUE does not begin with white
// space: "file:/src/a-b.go", "pkg:npm:@scope/name", "cmd:rm -rf x". A name without white space
// that begins with /, ./, ../, ~/ or a drive of Windows, such as C:\, is a literal of the type
// file, and a name that begins with SCHEME:// is a literal of the type url. The value of a
// literal of the type text is the SHA-256 of the text: see [Text].
//
// In every other name, words are found as by normalize/1, except for these ASCII signs:
//
//	% ~ @ # ^   stay                                                 "C#", "#12", "~1.2", "50%"
//	< > =       stay, and white space beside them does not count     "timeout < 30s" → "timeout<30s"
//	-           stays beside one of these, and before a number       "x -> y" → "x->y", "is -5" → "is--5"
//	            where a word begins; else it separates words
//	+           stays, except before a letter where a word begins    "C++", "+5", "a + b"; "+x" → "x"
//	.           stays between digits, and before a digit where a     "1.2", "-.5"
//	            word begins; two or more are treated as !
//	!           stays before a letter, a digit or =, and after       "!x", "!=", "a..b", "x/..."
//	            white space, - or /; else it is punctuation          "wow!" → "wow", "wait..." → "wait"
//
// "A digit" is any number (category N), and "a letter" is any character that normalize/1 never
// drops. A name of normalize/1 is a name of normalize/2, and names that differ under normalize/1
// differ under normalize/2.
//
// # normalize/1
//
//	step  what                                                      example
//	1     at most 2048 bytes of valid UTF-8, else ErrForm
//	2     characters without a shape are dropped: zero-width         "New\u00adYork"
//	      spaces and joiners, soft hyphens, variation selectors
//	3     NFKC and full Unicode case folding, until nothing changes  "Straße" → "strasse", "Ｎ" → "n"
//	4     white space, control characters, punctuation (category P)  "O'Neil, J." → "o-neil-j"
//	      and the symbols < = > ^ ` | ~ separate words
//	5     + and # stay, except where a word would begin with them    "C++" → "c++", "#12" → "12"
//	6     every other symbol stays                                   "A$AP" → "a$ap", "🎉" → "🎉"
//	7     a combining mark that follows no character is dropped
//	8     words are joined with one '-'; "-" itself separates words  "--New  York-" → "new-york"
//	9     an empty result is ErrEmpty, over 2048 bytes is ErrForm    "???" is refused
//
// Both forms are fixed points: Name(Name(x)) is Name(x) for every x that has a name.
//
// Two names that a rule has merged cannot be separated again, while an alias can join two names
// that were kept apart. So the rules keep every character that may distinguish names. The one
// exception is that they use NFKC and not NFC: full width letters, ligatures and circled digits
// come from documents and keyboards and carry no meaning. Its price is that 10⁶ and 106 are one
// name. Folding does not depend on the language: "İstanbul" keeps the dot (i with U+0307), so it
// is not "istanbul"; [Suggest] finds such pairs.
//
// The tables are those of Unicode 15. Tests contain digests of the results of the rules for every
// code point; tables with other results would need another rule, normalize/3.
//
// A [Table] contains aliases, [ReadAliases] reads lists of aliases, and [Suggest] proposes pairs
// for a person to decide on. The package never guesses: ambiguous input is an error or is reported.
package normalize
