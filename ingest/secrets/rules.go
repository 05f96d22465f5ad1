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

// A ruleFile is the content of the embedded file.
type ruleFile struct {
	Allow []*allowance `json:"allow"` // apply to every rule of the file
	Rules []*rule      `json:"rules"`
}

// A rule describes one kind of secret. Its expressions are compiled when one of its keywords occurs for the first time.
type rule struct {
	ID       string       `json:"id"`
	Regex    string       `json:"regex"`
	Group    int          `json:"group"`    // the group of Regex that is the secret; 0: the first non-empty group, or the whole match
	Entropy  float64      `json:"entropy"`  // bits per byte that a secret must exceed; 0: no minimum
	Keywords []string     `json:"keywords"` // the text must contain one of them
	Allow    []*allowance `json:"allow"`

	check   func(secret string) bool // nil: no further check
	general []*allowance             // the allowances for all rules of the file
	begins  []string                 // words that begin matches, for the starter
	generic bool                     // a finding of any other rule takes precedence, since it says more
	letters bool                     // a secret may begin with any letter, so the letter of a preceding escape may seem to belong to it

	regex func() *regexp.Regexp
	start func() *starter // returns nil if the expression has to search the whole text
}

// An allowance says which findings are not secrets.
type allowance struct {
	All       bool     `json:"all"`    // every kind of condition must hold, not only one
	Target    string   `json:"target"` // the text for Regexes: "" the secret, "match", "line"
	Regexes   []string `json:"regexes"`
	StopWords []string `json:"stopwords"`

	regexes func() []*regexp.Regexp
	stop    func() *words
}

// cardWords must precede the number of a payment card, since most numbers in logs that pass Luhn's check are not card numbers.
const cardWords = `card|visa|mastercard|maestro|amex|american express|pan`

// ownRules are the rules that gitleaks does not have.
var ownRules = []*rule{{
	ID: "payment-card",
	Regex: `(?i)(?:` + cardWords + `)(?:[ _-]?(?:number|num|no|nr))?[.#]?["'\x60]?(?:[ \t]*(?::|=|=>|is)[ \t]*|[ \t]+)["'\x60]?` +
		`([2-6][0-9]{3}(?:[ -]?[0-9]{4}){3}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})(?:[^0-9a-z._-]|[._-](?:[^0-9a-z]|$)|$)`,
	Keywords: strings.Split(cardWords, "|"),
	Allow: []*allowance{{
		// Test numbers that payment services publish.
		Regexes: []string{`^(?:4242[ -]?4242[ -]?4242[ -]?4242|4111[ -]?1111[ -]?1111[ -]?1111|4012[ -]?8888[ -]?8888[ -]?1881|5555[ -]?5555[ -]?5555[ -]?4444|` +
			`5105[ -]?1051[ -]?0510[ -]?5100|3782[ -]?822463[ -]?10005|3714[ -]?496353[ -]?98431|6011[ -]?1111[ -]?1111[ -]?1117)$`},
	}},
	check: luhn,
}, {
	ID:       "url-password",
	Regex:    `(?i)://[^\s:/?#@"'\x60<>(){}\[\]$\\|,;*]{0,64}:([^\s/?#@"'\x60<>(){}\[\]$\\|,;*]{3,128})@[a-z0-9_.\[-]{1,16}`,
	Keywords: []string{"://"},
	Allow: []*allowance{
		{Regexes: []string{ // placeholders, default passwords of programs, and ports
			`(?i)^(?:x+|\.+|_+|%[a-z]|pass(?:word|wd|phrase)?|pw|pwd|secret|token|api-?key|key|user(?:name)?|postgres|mysql|root|admin|guest|test|example|changeme|change-me|redacted|dev|[0-9]{1,5}|[a-z_]*(?:password|passwd|secret|token|_pass|_pw))$`,
			`(?i)^(?:your|my|the|some)[-_]`,
		}},
		{Target: "match", Regexes: []string{`(?i)@sha[0-9]`}}, // the digest of a container image
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
	ID:       "password-quoted", // a quoted password may contain characters that would end a word
	Regex:    `(?i)(?:` + passwordWords + `)["'\x60]?[ \t]*[:=][ \t]*(?:"((?:[^\s"\\]|\\["\\/]){8,64})"|'([^\s'\\]{8,64})')`,
	Keywords: strings.Split(passwordWords, "|"),
	check:    likeSigned,
	generic:  true,
}, {
	ID:       "password-set", // in a settings file, a password has no quotes
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
	ID: "password-element", // in XML, also escaped or as CDATA; the value next to a name; the text after a key
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
	// The output of a command may lack the end of a key. Lines may be quoted or numbered.
	ID:       "private-key-begun",
	Regex:    `(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----((?:(?:` + keyLineBegin + `)(?:[a-z-]{4,12}: [^\n\\]{1,100}|[a-z0-9+/=]{16,}))+(?:` + keyLineBegin + `)(?:[a-z0-9+/]{1,15}(?:={1,2}|$))?)`,
	Keywords: []string{"-----begin"},
	generic:  true,
}, {
	ID:       "private-key-ended", // and the beginning may be missing
	Regex:    `(?i)((?:[a-z0-9+/=]{16,}(?:` + keyLineBegin + `))+(?:[a-z0-9+/]{1,15}={0,2}(?:` + keyLineBegin + `))?)-----END[ A-Z0-9_-]{0,100}PRIVATE KEY`,
	Keywords: []string{"private key-----", "private key block-----"},
	generic:  true,
	letters:  true,
}}

// keyLineBegin matches the text between two lines of a key: the end of a line, quote marks, a line number, or the file and line
// as grep prints them.
const keyLineBegin = `(?:\s|\\+[nrt]|[0-9]{1,6}(?:\x{2192}|\t|: |\|)|[>|]|[a-z0-9_./-]{1,100}[:-][0-9]{1,6}[:-])*`

// passwordWords precede a password in prose and in settings.
const passwordWords = `password|passwd|passphrase|passwort|kennwort`

// likeSigned is likePassword for a quoted string, which may have any sign, unless it looks like a part of a program, a pattern
// or a template.
func likeSigned(s string) bool { return likePassword(s) && !notSigned().MatchString(s) }

// notSigned matches strings that programs have where a password would be.
var notSigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\$[{(]|^\$|\{\{|<[^<>]*>|^[\[{(^]|[a-z]{3,}[(\[]|\{[0-9]|\]\{|\[[a-z]-[a-z]|=>|\(\)|&&|\|\||[()]\.|^[a-z]+[:,;=|][a-z0-9]`)
})

// signs are characters that people use in passwords, and that are rare in words of programs.
const signs = "!@#$%^&*?+=~"

// called matches a function call.
var called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_][(\[]`) })

// likeChosen is likePassword for a word of prose: it must have both letter cases, or a sign, and must not contain the name of
// an algorithm or a version.
func likeChosen(s string) bool {
	lower, upper, sign := strings.ContainsFunc(s, unicode.IsLower), strings.ContainsFunc(s, unicode.IsUpper), strings.ContainsAny(s, signs)
	return likePassword(s) && (lower && upper || sign) && !method().MatchString(s)
}

var method = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)base(?:32|58|64|85)|argon|sha-?[0-9]|crypt|md5|utf-?[0-9]|oauth|pbkdf|hmac|aes|25519|x509|^v[0-9]`)
})

// isBasic reports whether a text is the credentials of a basic authorisation header (RFC 7617) and the password is not a
// placeholder.
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

// likePassword reports whether a text has letters and digits, and is neither a path, nor a name of a program, nor a number with
// a unit. Words without digits do not count as passwords, since most texts that set a password to a word are programs and
// documentation.
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

// notPassword matches texts that programs have where a password would be.
var notPassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[./~-]|[a-z]:[/\\])|://|::|->|[a-z0-9_]\.[a-z_]|^[0-9]+[a-z]{1,3}$|pass(?:word|wd|phrase)?[-_]?[0-9]*$|^(?:secret|test|user|arg|param|str|var)[-_]?[0-9]*$|^[a-z]+_[a-z0-9_]+$|^[a-z0-9]+(?:-[a-z]+)+[0-9]?$|%[a-z]|REDACTED`)
})

// luhn reports whether a number has the check digit of payment cards (ISO/IEC 7812-1) and its digits are not all the same.
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

// starts are words that begin the matches of rules whose keywords are further inside the match. Without
// these words, the expression would search the whole of every text that contains a common word.
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

// prepare sets the functions that compile on first use, since most rules are never needed.
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

// allows reports whether a finding is not a secret.
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
