package access

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// Maximum lengths of a scope's patterns, in bytes.
const (
	MaxAuthors = 1000 // for Authors and for SpeaksFor
	MaxSpaces  = 1000
)

// A Scope says which turns the holder of a key may admit, for which authors it speaks, and which spaces of beliefs
// exist for it. Its fields are in the stored form, so that identities can be compared. The zero value is the default of
// the key's role: an agent admits turns of the roles user, assistant and tool, an admin turns of every role, both of
// any author; an agent speaks for no author, an admin for all; and all spaces exist for both.
type Scope struct {
	Roles     string // roles of turns, joined by commas in the order of dag; "": the default
	Authors   string // patterns in which * matches any text, sorted and joined by commas; "": any
	SpeaksFor string // patterns of the authors for whom the key may speak, each with a standing or without: PATTERN, PATTERN=member, PATTERN=owner
	Spaces    string // patterns of the paths of spaces
}

// turnRoles lists the roles of turns in the order in which a scope names them.
var turnRoles = []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem}

// ParseScope reads the lists of a scope as people write them: in any order, with repetitions, with spaces around the
// commas, and with roles in any case. An empty list means the default.
func ParseScope(written Scope) (Scope, error) {
	var s Scope
	given := map[dag.Role]bool{}
	for _, name := range items(written.Roles) {
		r, err := turnRole(strings.ToLower(name))
		if err != nil {
			return Scope{}, err
		}
		given[r] = true
	}
	for _, r := range turnRoles {
		if given[r] {
			s.Roles = join(s.Roles, r.String())
		}
	}
	s.Authors, s.SpeaksFor, s.Spaces = sorted(written.Authors), sorted(written.SpeaksFor), sorted(written.Spaces)
	for _, list := range [...][2]string{{written.Roles, s.Roles}, {written.Authors, s.Authors}, {written.SpeaksFor, s.SpeaksFor}, {written.Spaces, s.Spaces}} {
		if strings.TrimSpace(list[0]) != "" && list[1] == "" {
			return Scope{}, fmt.Errorf("%w: the list contains only commas; name an item, or leave the list out", dag.ErrForm)
		}
	}
	return s, s.Check()
}

// sorted returns the items of a list in ascending order, without repetitions.
func sorted(list string) string {
	all := items(list)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

func turnRole(name string) (dag.Role, error) {
	for _, r := range turnRoles {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("%w: role %.80q of a turn, want user, assistant, tool or system", dag.ErrForm, name)
}

func items(list string) []string {
	var found []string
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			found = append(found, item)
		}
	}
	return found
}

func join(list, item string) string {
	if list == "" {
		return item
	}
	return list + "," + item
}

// Check returns an error for a scope that is not in the form that ParseScope returns.
func (s Scope) Check() error {
	at := 0
	for _, name := range items(s.Roles) {
		if _, err := turnRole(name); err != nil {
			return err
		}
		n := slices.IndexFunc(turnRoles[at:], func(r dag.Role) bool { return r.String() == name })
		if n < 0 {
			return fmt.Errorf("%w: the roles %.80q are not in their order, or one occurs twice", dag.ErrForm, s.Roles)
		}
		at += n + 1
	}
	if strings.Join(items(s.Roles), ",") != s.Roles {
		return fmt.Errorf("%w: the roles %.80q have empty items, or spaces around them", dag.ErrForm, s.Roles)
	}
	if err := checkPatterns("authors", s.Authors, MaxAuthors); err != nil {
		return err
	}
	if err := checkPatterns("authors that the key speaks for", s.SpeaksFor, MaxAuthors); err != nil {
		return err
	}
	for _, item := range items(s.SpeaksFor) {
		if _, _, err := grantOf(item); err != nil {
			return err
		}
	}
	if strings.ContainsFunc(s.Spaces, func(r rune) bool { return !isSpaceRune(r) && r != ',' && r != '*' }) {
		return fmt.Errorf("%w: the patterns of spaces %.80q, want paths such as acme/support and acme/*", dag.ErrForm, s.Spaces)
	}
	return checkPatterns("spaces", s.Spaces, MaxSpaces)
}

// isSpaceRune reports whether a character is allowed in the path of a space.
func isSpaceRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("._-/", r)
}

func checkPatterns(of, list string, most int) error {
	if len(list) > most || !utf8.ValidString(list) || strings.ContainsFunc(list, unicode.IsControl) {
		return fmt.Errorf("%w: the patterns of %s have %d bytes, want at most %d of UTF-8 without control characters", dag.ErrForm, of, len(list), most)
	}
	if sorted(list) != list {
		return fmt.Errorf("%w: the patterns of %s %.80q are not sorted, or one occurs twice, is empty or has spaces around it", dag.ErrForm, of, list)
	}
	return nil
}

// CheckFor returns an error for a scope that no key of a role can have.
func (s Scope) CheckFor(role Role) error {
	switch {
	case s.Roles+s.Authors != "" && !role.May(Admit):
		return fmt.Errorf("%w: a key of role %s cannot admit turns, so it must not list roles or authors to admit", dag.ErrForm, role)
	case s.SpeaksFor != "" && !role.May(Admit):
		return fmt.Errorf("%w: a key of role %s cannot admit turns, so it must not list authors to speak for", dag.ErrForm, role)
	case s.Spaces != "" && (role.May(Read) || !role.May(Recall)):
		return fmt.Errorf("%w: a key of role %s cannot be limited to spaces; only a key of role %s can", dag.ErrForm, role, Agent)
	}
	return nil
}

// For returns the scope for a role, with the role's default turn roles filled in.
func (s Scope) For(role Role) Scope {
	switch {
	case s.Roles != "":
	case role == Agent:
		s.Roles = "user,assistant,tool"
	case role == Admin:
		s.Roles = "user,assistant,tool,system"
	}
	return s
}

// A ScopeError reports that a key may not admit a turn, and why.
type ScopeError struct {
	Turn         dag.TurnID
	Field, Value string // the refused field of the turn: role or author
	Rule         string // the roles or authors that the key admits
	Way          string // the options of apikey create for a key that admits the turn
}

func (e *ScopeError) Error() string {
	return fmt.Sprintf("turn %s: this key does not admit the %s %.200q; it admits %s; an admin can make a key that admits it with: graphkernel apikey create %s", e.Turn, e.Field, e.Value, e.Rule, e.Way)
}

// wider returns the options for a key that admits, in addition to the scope, one more role or one more author.
func (s Scope) wider(of Role, role, author string) string {
	way := fmt.Sprintf("--role %s", of)
	if w, err := ParseScope(Scope{Roles: s.Roles + "," + role}); err == nil && w.Roles != (Scope{}).For(of).Roles {
		way += " --admit-roles " + w.Roles
	}
	switch {
	case author != "":
		way += " --admit-authors PATTERNS (one of them must match that author)"
	case s.Authors != "":
		way += " --admit-authors '" + s.Authors + "'"
	}
	if s.SpeaksFor != "" {
		way += " --speaks-for '" + s.SpeaksFor + "'"
	}
	if s.Spaces != "" {
		way += " --spaces '" + s.Spaces + "'"
	}
	return way
}

// MayAdmit returns a *ScopeError if a turn is outside the caller's scope.
func (i Identity) MayAdmit(d *dag.Draft) error {
	s := i.Admits.For(i.Role)
	if !slices.Contains(items(s.Roles), d.Role.String()) {
		return &ScopeError{Turn: d.ID, Field: "role", Value: d.Role.String(), Rule: s.Roles, Way: s.wider(i.Role, d.Role.String(), "")}
	}
	if s.Authors != "" && !fitsAny(s.Authors, d.Author) {
		return &ScopeError{Turn: d.ID, Field: "author", Value: d.Author, Rule: s.Authors, Way: s.wider(i.Role, "", d.Author)}
	}
	return nil
}

// SpeaksForAll reports whether the caller speaks for every author. It does if it is a program that embeds the kernel
// and names no caller, a person's own command, or an admin. An agent over stdio does not, whatever its role.
func (i Identity) SpeaksForAll() bool {
	return i == (Identity{}) || i.Role == Admin && i.Subject != Stdio
}

// SpeaksFor reports whether the kernel believes that the turns that a caller submits are the words of the named author.
// Anyone can write any author into a turn; an agent's credential is believed only for the authors that an admin listed.
func (i Identity) SpeaksFor(author string) bool { return i.Grant(author) != dag.GrantRefused }

// Grant returns what an admin granted to the caller's credential for an author: the greatest grant of the patterns that
// match. A caller that speaks for all authors is granted nothing for an author that no pattern matches, and any other
// caller is refused.
func (i Identity) Grant(author string) dag.Grant {
	granted := dag.GrantRefused
	if i.SpeaksForAll() {
		granted = 0
	}
	for _, item := range items(i.Admits.SpeaksFor) {
		if pattern, grant, err := grantOf(item); err == nil && grant > granted && fits(pattern, author) {
			granted = grant
		}
	}
	return granted
}

// GrantsStanding reports whether the scope says of an author that it is an owner or a member.
func (s Scope) GrantsStanding() bool { return strings.Contains(s.SpeaksFor, "=") }

// Greatest returns the greatest grant of the scope for any author; 0 if there is none.
func (s Scope) Greatest() (greatest dag.Grant) {
	for _, item := range items(s.SpeaksFor) {
		if _, grant, err := grantOf(item); err == nil {
			greatest = max(greatest, grant)
		}
	}
	return greatest
}

// grantOf reads an item of SpeaksFor.
func grantOf(item string) (pattern string, grant dag.Grant, err error) {
	pattern, standing, found := strings.Cut(item, "=")
	switch {
	case !found:
		return pattern, dag.GrantSpeaks, nil
	case standing == dag.GrantMember.String() && pattern != "":
		return pattern, dag.GrantMember, nil
	case standing == dag.GrantOwner.String() && pattern != "":
		return pattern, dag.GrantOwner, nil
	}
	return "", 0, fmt.Errorf("%w: the key speaks for %.80q, want PATTERN, PATTERN=member or PATTERN=owner", dag.ErrForm, item)
}

// Sees reports whether a space of beliefs exists for the holder of a key.
func (s Scope) Sees(space string) bool { return s.Spaces == "" || fitsAny(s.Spaces, space) }

func fitsAny(patterns, text string) bool {
	return slices.ContainsFunc(items(patterns), func(p string) bool { return fits(p, text) })
}

// fits reports whether a pattern matches a text; * matches any text. It takes at most time proportional to the product
// of their lengths.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return text == pattern
	}
	rest, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, last)
}
