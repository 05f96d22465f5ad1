// Package normalize owns the names of entities: the one canonical form of a name, and the
// tables that say which names stand for which. It is pure.
//
// There are two rules. [Name] applies the newest, normalize/2. normalize/1 is there for names
// that were learned under it; anyone who stores names stores the [Rule] beside them.
//
// # normalize/2
//
// A name is a literal, in which every byte counts, or words.
//
// A literal is TYPE:VALUE, where TYPE is one of [Types] and VALUE does not begin with white
// space: "file:/src/a-b.go", "pkg:npm:@scope/name", "cmd:rm -rf x". A name without white space
// that begins with /, ./, ../, ~/ or a drive of Windows, such as C:\, is a literal of the type
// file, and one that begins SCHEME:// of the type url. A literal of the type text has the
// SHA-256 of the text as its value: see [Text].
//
// In every other name words are found as normalize/1 does, but these signs of ASCII mean
// something:
//
//	% ~ @ # ^   stay                                                 "C#", "#12", "~1.2", "50%"
//	< > =       stay, and white space beside them does not count     "timeout < 30s" → "timeout<30s"
//	-           stays beside one of these, and before a number       "x -> y" → "x->y", "is -5" → "is--5"
//	            where a word begins; else it separates words
//	+           stays, but where a word begins with it and a letter  "C++", "+5", "a + b"; "+x" → "x"
//	.           stays between digits, and before a digit where a     "1.2", "-.5"
//	            word begins; two or more are as !
//	!           stays before a letter, a digit or =, and where it    "!x", "!=", "a..b", "x/..."
//	            follows white space, - or /; else it is punctuation  "wow!" → "wow", "wait..." → "wait"
//
// "A digit" is any number (category N), and "a letter" whatever normalize/1 never drops. A name
// of normalize/1 is a name of normalize/2, and what normalize/1 tells apart normalize/2 does too.
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
//	7     a combining mark that follows no character goes
//	8     words are joined with one '-'; "-" itself separates words  "--New  York-" → "new-york"
//	9     nothing left is ErrEmpty, more than 2048 bytes ErrForm     "???" is refused
//
// Both forms are fixed points: Name(Name(x)) is Name(x) for every x that has a name.
//
// Two names that are made one cannot be parted again, while two that were kept apart can be
// joined by an alias. So what may tell things apart stays. NFKC, and not NFC, is the one
// exception: full width letters, ligatures and circled digits come out of documents and
// keyboards, not out of meaning. Its price is that 10⁶ and 106 are one name. Folding knows no
// language: "İstanbul" keeps the dot (i with U+0307), so it is not "istanbul"; [Suggest] finds
// such pairs.
//
// The tables are those of Unicode 15. Tests hold digests of what the rules make of every code
// point; other tables that change them are another rule, normalize/3.
//
// A [Table] holds aliases, [ReadAliases] reads lists of them, and [Suggest] proposes pairs for a
// person to decide on. Nothing here guesses: what is ambiguous is an error or a report.
package normalize
