package secrets

import (
	"bytes"
	_ "embed" // the rule file
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:generate sh -c "cd ../../interop && go run ./secretrules > ../ingest/secrets/gitleaks/rules.json"

//go:embed gitleaks/rules.json
var gitleaks []byte

// A ruleFile is the form of the embedded file.
type ruleFile struct {
	Allow []*allowance `json:"allow"` // for every rule of the file
	Rules []*rule      `json:"rules"`
}

// A rule says what a kind of secret looks like. Its expressions are compiled when its keywords occur for the first time.
type rule struct {
	ID       string       `json:"id"`
	Regex    string       `json:"regex"`
	Group    int          `json:"group"`    // which group of Regex is the secret; 0: the first that is not empty, or the whole match
	Entropy  float64      `json:"entropy"`  // bits for each character that a secret has more than; 0: any
	Keywords []string     `json:"keywords"` // the text has one of them
	Allow    []*allowance `json:"allow"`

	check   func(secret string) bool // nil: nothing more is checked
	general []*allowance             // for all rules of the file
	begins  []string                 // words with which a match begins, if there is a starter
	generic bool                     // any other rule says more of the same secret
	letters bool                     // a secret may begin with any letter, also with that of an escape before it

	regex func() *regexp.Regexp
	start func() *starter // nil result: the expression has to look at all of a text
}

// An allowance says which findings are no secrets.
type allowance struct {
	All       bool     `json:"all"`    // every kind of condition has to hold, in place of any
	Target    string   `json:"target"` // what Regexes look at: "" the secret, "match", "line"
	Regexes   []string `json:"regexes"`
	StopWords []string `json:"stopwords"`

	regexes func() []*regexp.Regexp
	stop    func() *words
}

// cardWords are what has to precede the number of a payment card: most numbers in logs that pass Luhn's check are none.
const cardWords = `card|visa|mastercard|maestro|amex|american express|pan`

// ownRules are those that gitleaks does not have.
var ownRules = []*rule{{
	ID: "payment-card",
	Regex: `(?i)(?:` + cardWords + `)(?:[ _-]?(?:number|num|no|nr))?[.#]?["'\x60]?(?:[ \t]*(?::|=|=>|is)[ \t]*|[ \t]+)["'\x60]?` +
		`([2-6][0-9]{3}(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})(?:[^0-9a-z._-]|[._-](?:[^0-9a-z]|$)|$)`,
	Keywords: strings.Split(cardWords, "|"),
	Allow: []*allowance{{
		// Numbers that payment services publish for tests.
		Regexes: []string{`^(?:4242[ -]?4242[ -]?4242[ -]?4242|4111[ -]?1111[ -]?1111[ -]?1111|4012[ -]?8888[ -]?8888[ -]?1881|5555[ -]?5555[ -]?5555[ -]?4444|` +
			`5105[ -]?1051[ -]?0510[ -]?5100|3782[ -]?822463[ -]?10005|3714[ -]?496353[ -]?98431|6011[ -]?1111[ -]?1111[ -]?1117)$`},
	}},
	check: luhn,
}, {
	ID:       "url-password",
	Regex:    `(?i)://[^\s:/?#@"'\x60<>(){}\[\]$\\|,;*]{0,64}:([^\s/?#@"'\x60<>(){}\[\]$\\|,;*]{3,128})@[a-z0-9_.\[-]{1,16}`,
	Keywords: []string{"://"},
	Allow: []*allowance{
		{Regexes: []string{ // what stands for a password, those that are the default of a program, and ports
			`(?i)^(?:x+|\.+|_+|%[a-z]|pass(?:word|wd|phrase)?|pw|pwd|secret|token|api-?key|key|user(?:name)?|postgres|mysql|root|admin|guest|test|example|changeme|change-me|redacted|dev|[0-9]{1,5}|[a-z_]*(?:password|passwd|secret|token|_pass|_pw))$`,
			`(?i)^(?:your|my|the|some)[-_]`,
		}},
		{Target: "match", Regexes: []string{`(?i)@sha[0-9]`}}, // the digest of an image
	},
	generic: true,
}, {
	ID: "password-in-text",
	Regex: `(?i)(?:` + passwordWords + `)(?:\\{0,8}["'\x60])?(?:[ \t]+(?:is|was|ist|lautet)[ \t]*:?[ \t]+|[ \t]*[:=][ \t]*)(?:\\{0,8}["'\x60])?` +
		`([^\s"'\x60<>(){}\[\],;\\|&]{6,64}?)[.!?]?(?:[\s"'\x60,;)\]}&\\]|$)`,
	Keywords: strings.Split(passwordWords, "|"),
	check:    likePassword,
	generic:  true,
}, {
	ID:       "password-quoted", // a string may have signs that end a word
	Regex:    `(?i)(?:` + passwordWords + `)["'\x60]?[ \t]*[:=][ \t]*(?:"((?:[^\s"\\]|\\["\\/]){8,64})"|'([^\s'\\]{8,64})')`,
	Keywords: strings.Split(passwordWords, "|"),
	check:    likeSigned,
	generic:  true,
}, {
	ID:       "password-set", // a file of settings has no quotes around one
	Regex:    `(?i)(?:` + passwordWords + `)[ \t]*[:=][ \t]*([^\s"'\x60<>,;&|\\{}]{8,64})(?:[\s"'\x60\\]|$)`,
	Keywords: strings.Split(passwordWords, "|"),
	check: func(s string) bool {
		return likeChosen(s) && strings.ContainsAny(s, signs) && likeSigned(s) && !called().MatchString(s)
	},
	generic: true,
}, {
	ID: "password-for", // "the password for the staging box is …"
	Regex: `(?i)(?:` + passwordWords + `)[ \t]+(?:for|of|to|on|in|at|f\x{fc}r|von|zu|auf)(?:[ \t]+[^\s"'\x60<>(){}\[\],;:.\\|&=]{1,32}){1,6}?[ \t]+(?:is|was|ist|war|lautet)[ \t]*:?[ \t]+["'\x60]?` +
		`([^\s"'\x60<>(){}\[\],;\\|&]{8,64}?)[.!?]?(?:["'\x60,;)\\]|[ \t]*(?:\n|$)|[ \t]+(?:and|but|now|und|aber)\b)`,
	Keywords: strings.Split(passwordWords, "|"),
	check:    likeChosen,
	generic:  true,
}, {
	ID:       "password-option",
	Regex:    `(?i)--pass(?:word|wd|phrase|wort)[ \t]+["'\x60]?([^\s"'\x60<>(){}\[\],;\\|&]{6,64})`,
	Keywords: []string{"--pass"},
	check:    likePassword,
	generic:  true,
}, {
	ID: "password-element", // of XML, also escaped or quoted as CDATA; the value beside a name; the text behind a key
	Regex: `(?i)(?:` + passwordWords + `)[a-z0-9_.-]{0,20}(?:(?:\s[^<>]{0,100})?(?:>|&gt;)\s{0,40}(?:<!\[CDATA\[\s{0,40})?([^<>\s]{6,64}?)\s{0,40}(?:\]\]>\s{0,40})?(?:</|&lt;/)|` +
		`["']\s{1,20}value\s{0,4}=\s{0,4}["']([^"'<>\s]{6,64})["']|</key>\s{0,40}<string>([^<>\s]{6,64})</)`,
	Keywords: strings.Split(passwordWords, "|"),
	check:    likePassword,
	generic:  true,
}, {
	ID:       "basic-authorization",
	Regex:    `(?i)basic[ \t]+([a-z0-9+/_-]{6,512}={0,2})`,
	Keywords: []string{"basic"},
	check:    isBasic,
	generic:  true,
}, {
	// The end of a key was cut off with the output of a command. Lines may be quoted or have numbers.
	ID:       "private-key-begun",
	Regex:    `(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----((?:(?:` + keyLineBegin + `)(?:[a-z-]{4,12}: [^\n\\]{1,100}|[a-z0-9+/=]{16,}))+(?:` + keyLineBegin + `)(?:[a-z0-9+/]{1,15}(?:={1,2}|$))?)`,
	Keywords: []string{"-----begin"},
	generic:  true,
}, {
	ID:       "private-key-ended", // so was its beginning
	Regex:    `(?i)((?:[a-z0-9+/=]{16,}(?:` + keyLineBegin + `))+(?:[a-z0-9+/]{1,15}={0,2}(?:` + keyLineBegin + `))?)-----END[ A-Z0-9_-]{0,100}PRIVATE KEY`,
	Keywords: []string{"private key-----", "private key block-----"},
	generic:  true,
	letters:  true,
}}

// keyLineBegin is what lies between two lines of a key: the end of the one, quoted marks and a number, or the file and the line as grep names them, before the other.
const keyLineBegin = `(?:\s|\\+[nrt]|[0-9]{1,6}(?:\x{2192}|\t|: |\|)|[>|]|[a-z0-9_./-]{1,100}[:-][0-9]{1,6}[:-])*`

// passwordWords are what has to precede a password in prose and in settings.
const passwordWords = `password|passwd|passphrase|passwort|kennwort`

// likeSigned is likePassword for a string, which may have any sign, unless it looks like a part of a program, a pattern or a template.
func likeSigned(s string) bool { return likePassword(s) && !notSigned().MatchString(s) }

// notSigned is what strings have in the place of a password.
var notSigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\$[{(]|^\$|\{\{|<[^<>]*>|^[\[{(^]|[a-z]{3,}[(\[]|\{[0-9]|\]\{|\[[a-z]-[a-z]|=>|\(\)|&&|\|\||[()]\.|^[a-z]+[:,;=|][a-z0-9]`)
})

// signs are those that people put into passwords, and that words of programs seldom have.
const signs = "!@#$%^&*?+=~"

// called is a call of a function.
var called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_][(\[]`) })

// likeChosen is likePassword for a word of prose: it has both cases and digits, or a sign, and is no name of a method.
func likeChosen(s string) bool {
	lower, upper, sign := strings.ContainsFunc(s, unicode.IsLower), strings.ContainsFunc(s, unicode.IsUpper), strings.ContainsAny(s, signs)
	return likePassword(s) && (lower && upper || sign) && !method().MatchString(s)
}

var method = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)base(?:32|58|64|85)|argon|sha-?[0-9]|crypt|md5|utf-?[0-9]|oauth|pbkdf|hmac|aes|25519|x509|^v[0-9]`)
})

// isBasic reports whether a text is the user and the password of a header of basic authorisation (RFC 7617), and the password is none that stands for one.
func isBasic(s string) bool {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil || !utf8.Valid(data) || bytes.ContainsFunc(data, unicode.IsControl) {
		return false
	}
	user, password, ok := strings.Cut(string(data), ":")
	return ok && user+password != "" && !placeholder().MatchString(password) && !strings.ContainsRune(user, utf8.RuneError)
}

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:x*|\.+|\*+|pass(?:word|wd)?[0-9]*|pw|pwd|secret|token|test|example|changeme|user(?:name)?|open ?sesame)$|^[<$]`)
})

// likePassword reports whether a text has letters and digits, and is neither a path, nor a name of a program, nor a number with a unit. Words alone are not taken for
// passwords: most texts in which a password is set to a word are programs and documentation.
func likePassword(s string) bool {
	letters, digits := 0, 0
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case unicode.IsLetter(c):
			letters++
		}
	}
	return letters >= 2 && digits >= 1 && !notPassword().MatchString(s)
}

// notPassword is what programs have in the place of a password.
var notPassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[./~-]|[a-z]:[/\\])|://|::|->|[a-z0-9_]\.[a-z_]|^[0-9]+[a-z]{1,3}$|pass(?:word|wd|phrase)?[-_]?[0-9]*$|^(?:secret|test|user|arg|param|str|var)[-_]?[0-9]*$|^[a-z]+_[a-z0-9_]+$|^[a-z0-9]+(?:-[a-z]+)+[0-9]?$|%[a-z]|REDACTED`)
})

// luhn reports whether the digits of a number have the check digit of payment cards (ISO/IEC 7812-1) and are not all the same.
func luhn(number string) bool {
	sum, n, same := 0, 0, true
	var last byte
	for i := len(number) - 1; i >= 0; i-- {
		c := number[i]
		if c < '0' || c > '9' {
			continue
		}
		d := int(c - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		same = same && (n == 0 || c == last)
		last = c
		sum += d
		n++
	}
	return n > 1 && sum%10 == 0 && !same
}

// starts are words with which matches of a rule begin, where its keywords are further inside: without them, the expression would look at all of
// each text that has a common word.
var starts = map[string][]string{
	"kubernetes-secret-yaml": {"kind:", "data:"},
}

// standardRules returns all rules, gitleaks' first.
func standardRules() ([]*rule, error) {
	var f ruleFile
	if err := json.Unmarshal(gitleaks, &f); err != nil {
		return nil, fmt.Errorf("secrets: the rule file: %w", err)
	}
	rules := make([]*rule, 0, len(f.Rules)+len(ownRules))
	for _, r := range f.Rules {
		r.general = f.Allow
		r.generic = strings.Contains(r.ID, "generic")
		rules = append(rules, r)
	}
	for _, r := range ownRules {
		own := *r
		rules = append(rules, &own)
	}
	for _, r := range rules {
		if r.begins = starts[r.ID]; r.begins == nil {
			r.begins = r.Keywords
		}
		r.prepare()
		for _, a := range r.Allow {
			a.prepare()
		}
	}
	for _, a := range f.Allow {
		a.prepare()
	}
	return rules, nil
}

// prepare compiles nothing yet: most rules are never needed.
func (r *rule) prepare() {
	r.regex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.Regex) })
	r.start = sync.OnceValue(func() *starter { return newStarter(r.Regex, r.begins) })
}

func (a *allowance) prepare() {
	a.regexes = sync.OnceValue(func() []*regexp.Regexp {
		list := make([]*regexp.Regexp, len(a.Regexes))
		for i, text := range a.Regexes {
			list[i] = regexp.MustCompile(text)
		}
		return list
	})
	a.stop = sync.OnceValue(func() *words { return newWords(a.StopWords) })
}

// allows reports whether a finding is no secret.
func (a *allowance) allows(secret, match, line string) bool {
	target := secret
	switch a.Target {
	case "match":
		target = match
	case "line":
		target = line
	}
	matches := false
	for _, re := range a.regexes() {
		if matches = target != "" && re.MatchString(target); matches {
			break
		}
	}
	stops := len(a.StopWords) > 0 && a.stop().in(secret)
	if a.All {
		return (matches || len(a.Regexes) == 0) && (stops || len(a.StopWords) == 0)
	}
	return matches || stops
}
