package cli

import (
	"net/url"
	"os"
	"regexp"
	"strings"
)

const secretSign = "xxxxx"

// WithoutPassword returns the name of a store, or another value that may be a URL, without the passwords in it.
func WithoutPassword(name string) string {
	shown, _ := redact(name)
	return shown
}

// redact returns a name without passwords, and reports whether it is sure where they are. If it is not, only the scheme is shown: if a password contains @ or
// / unescaped, a part of it is where the host should be.
func redact(name string) (shown string, sure bool) {
	if path, ok := strings.CutPrefix(name, "sqlite:"); ok && !strings.HasPrefix(path, "//") {
		return name, true
	}
	if scheme, rest, ok := strings.Cut(name, "://"); ok && isScheme(scheme) {
		if rest, ok := redactURL(rest); ok {
			return scheme + "://" + rest, true
		}
		return scheme + "://…", false
	}
	shown = hideKeywords(name)
	if !strings.Contains(shown, "@") || !strings.Contains(shown, ":") {
		return shown, true
	}
	if scheme, _, _ := strings.Cut(name, ":"); isScheme(scheme) {
		return scheme + ":…", false
	}
	return "…", false
}

func isScheme(s string) bool { return scheme.MatchString(s) }

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.:-]*$`)

// passwordKeyword matches the passwords in libpq's lists of keywords and values.
var passwordKeyword = regexp.MustCompile(`(?is)((?:password|pwd)\s*=\s*)('(?:[^'\\]|\\.)*'?|(?:\\.|[^\s\\])*)`)

func hideKeywords(s string) string {
	return passwordKeyword.ReplaceAllString(s, "${1}"+secretSign)
}

// redactURL hides the passwords in the part of a URL after its scheme. It may have several hosts, so it is read as libpq does: the user's part ends at the
// first @ before any slash.
func redactURL(rest string) (string, bool) {
	user := ""
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		name, _, has := strings.Cut(rest[:i], ":")
		if rest, user = rest[i+1:], name+"@"; has {
			user = name + ":" + secretSign + "@"
		}
	}
	base, query, asks := strings.Cut(rest, "?")
	hosts, _, _ := strings.Cut(base, "/")
	if strings.Contains(rest, "@") || !hostList.MatchString(hosts) {
		return "", false
	}
	shown := user + hideKeywords(base)
	if !asks {
		return shown, true
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		plain, err := url.QueryUnescape(pair)
		if err != nil {
			return "", false
		}
		if key, _, _ := strings.Cut(strings.ToLower(plain), "="); key == "password" || key == "sslpassword" {
			key, _, _ := strings.Cut(pair, "=")
			pairs[i] = key + "=" + secretSign
		} else if hideKeywords(plain) != plain { // a password within another keyword's value
			return "", false
		}
	}
	return shown + "?" + strings.Join(pairs, "&"), true
}

// hostList matches hosts with ports. A part that is not a port may be a password.
var hostList = regexp.MustCompile(`^(?:(?:\[[^\]@]*\]|[^:,@\[\]]*)(?::[0-9]*)?(?:,|$))*$`)

// A hiddenError is an error whose text may contain a part of a password.
type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }

// WithoutName returns an error of opening a store. If the name may contain a password anywhere, the driver's text is not shown. For other names the driver
// hides the password.
func WithoutName(name string, err error) error {
	if shown, sure := redact(name); err != nil && !sure {
		return &hiddenError{"store " + shown + " cannot be opened; the reason is not shown, since it may contain a part of a password: " +
			"write @ as %40, / as %2F, : as %3A, ? as %3F and % as %25 in a URL's user, password and parameters", err}
	}
	return err
}

// ShownPath returns the path in a store's name, which may be a URL by mistake.
func ShownPath(name string) string { return strings.TrimPrefix(WithoutPassword(name), "sqlite:") }

// SameStore reports whether two names are certainly of the same store.
func SameStore(a, b string) bool {
	if a == b {
		return true
	}
	here, err := SqlitePath(a)
	if err != nil {
		return false
	}
	there, err := SqlitePath(b)
	return err == nil && sameFile(here, there)
}

func sameFile(a, b string) bool {
	here, err := os.Stat(a)
	if err != nil {
		return false
	}
	there, err := os.Stat(b)
	return err == nil && os.SameFile(here, there)
}
