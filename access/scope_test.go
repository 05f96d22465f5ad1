package access_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

func TestParseScope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		roles, authors, spaces string
		want                   access.Scope
	}{
		{"", "", "", access.Scope{}},
		{" ", "\t", " ", access.Scope{}},
		{"tool, User ,assistant,,user", " tool:* ,agent:*,tool:*", "", access.Scope{Roles: "user,assistant,tool", Authors: "agent:*,tool:*"}},
		{"SYSTEM", "*", "acme/x, acme/*,,acme/x", access.Scope{Roles: "system", Authors: "*", Spaces: "acme/*,acme/x"}},
	} {
		got, err := access.ParseScope(access.Scope{Roles: c.roles, Authors: c.authors, Spaces: c.spaces})
		if err != nil || got != c.want {
			t.Errorf("ParseScope(%q, %q, %q) gave %+v, %v, want %+v", c.roles, c.authors, c.spaces, got, err, c.want)
		}
		if again, err := access.ParseScope(got); err != nil || again != got {
			t.Errorf("%+v is read as %+v, %v", got, again, err)
		}
	}
	for _, bad := range [][3]string{{"", "", ","}, {"", "", "Acme"}, {"", "", "acme/a b"}, {"", "", strings.Repeat("x", access.MaxSpaces+1)}, {"root", ""}, {"user;tool", ""}, {",", ""}, {"", ",,"}, {"", "a\x00"}, {"", "\xff"}, {"", strings.Repeat("x", access.MaxAuthors+1)}} {
		if got, err := access.ParseScope(access.Scope{Roles: bad[0], Authors: bad[1], Spaces: bad[2]}); !errors.Is(err, dag.ErrForm) {
			t.Errorf("ParseScope(%q, %.20q, %.20q) gave %+v, %v", bad[0], bad[1], bad[2], got, err)
		}
	}
	for _, bad := range []access.Scope{{Roles: "tool,user"}, {Roles: "user,user"}, {Roles: "User"}, {Roles: "user, tool"}, {Roles: ","}, {Authors: "b,a"}, {Authors: "a,a"}, {Authors: " a"}, {Authors: "a,"}, {Spaces: "b,a"}, {Spaces: "a,a"}, {Spaces: "a,"}, {Spaces: "A"}} {
		if err := bad.Check(); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%+v is taken: %v", bad, err)
		}
	}
}

// TestMayAdmitRoles is the whole table of the defaults, and one that is narrower.
func TestMayAdmitRoles(t *testing.T) {
	t.Parallel()
	only := access.Scope{Roles: "tool"}
	for _, c := range []struct {
		who  access.Identity
		want string
	}{
		{access.Identity{Role: access.Agent}, "user assistant tool"},
		{access.Identity{Role: access.Admin}, "user assistant tool system"},
		{access.Identity{Role: access.Auditor}, ""},
		{access.Identity{Role: access.Verifier}, ""},
		{access.Identity{}, ""},
		{access.Identity{Role: access.Agent, Admits: only}, "tool"},
		{access.Identity{Role: access.Agent, Admits: access.Scope{Roles: "system"}}, "system"},
		{access.Identity{Role: access.Admin, Admits: only}, "tool"},
	} {
		for _, role := range []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem, 0, 99} {
			err := c.who.MayAdmit(&dag.Draft{Role: role, Author: "anybody"})
			want := role.String() != "" && strings.Contains(" "+c.want+" ", " "+role.String()+" ")
			var outside *access.ScopeError
			if (err == nil) != want || err != nil && (!errors.As(err, &outside) || outside.Field != "role" || outside.Value != role.String()) {
				t.Errorf("%+v admits %s: %v, want %v", c.who, role, err, want)
			}
		}
	}
}

// TestMayAdmitAuthors compares patterns with regular expressions on random texts.
func TestMayAdmitAuthors(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(signs string, most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteByte(signs[random.IntN(len(signs))])
		}
		return b.String()
	}
	fit := 0
	for range 20_000 {
		pattern, author := draw("ab.*", 7), draw("ab.", 9)
		scope, err := access.ParseScope(access.Scope{Authors: pattern})
		if err != nil {
			t.Fatal(err)
		}
		want := pattern == "" || regexp.MustCompile(`\A`+strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `(?s:.*)`)+`\z`).MatchString(author)
		got := access.Identity{Role: access.Agent, Admits: scope}.MayAdmit(&dag.Draft{Role: dag.RoleUser, Author: author}) == nil
		if got != want {
			t.Fatalf("%q fits %q: %v, want %v", author, pattern, got, want)
		}
		if got {
			fit++
		}
	}
	if fit < 1000 || fit > 19_000 {
		t.Errorf("%d fit: this shows little", fit)
	}
}

// TestScopeErrorNamesTheWay holds that a key made as a refusal says admits the turn, and what it admitted before.
func TestScopeErrorNamesTheWay(t *testing.T) {
	tried := 0
	for _, role := range []access.Role{access.Agent, access.Admin} {
		for _, roles := range []string{"", "user", "assistant,tool", "system"} {
			for _, authors := range []string{"", "tool:*,agent:*"} {
				s, err := access.ParseScope(access.Scope{Roles: roles, Authors: authors})
				if err != nil {
					t.Fatal(err)
				}
				for _, said := range []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem} {
					d := dag.Draft{Role: said, Author: "tool:shell"}
					var refused *access.ScopeError
					if !errors.As(access.Identity{Role: role, Admits: s}.MayAdmit(&d), &refused) {
						continue
					}
					tried++
					if !strings.Contains(refused.Error(), "graphkernel apikey create "+refused.Way) {
						t.Errorf("the message is %s", refused)
					}
					options := map[string]string{}
					words := strings.Fields(refused.Way)
					for i := 0; i+1 < len(words); i += 2 {
						options[words[i]] = strings.Trim(words[i+1], "'")
					}
					wider, err := access.ParseScope(access.Scope{Roles: options["--admit-roles"], Authors: options["--admit-authors"]})
					if err != nil || wider.Authors != s.Authors || options["--role"] != string(role) {
						t.Errorf("%q: %+v, %v", refused.Way, wider, err)
					}
					who := access.Identity{Role: role, Admits: wider}
					for _, before := range strings.Split(s.For(role).Roles+","+said.String(), ",") {
						r, err := dag.ParseRole(before)
						if err != nil {
							t.Fatal(err)
						}
						if err := who.MayAdmit(&dag.Draft{Role: r, Author: "tool:shell"}); err != nil {
							t.Errorf("%q does not admit %s: %v", refused.Way, before, err)
						}
					}
				}
			}
		}
	}
	if tried < 12 {
		t.Errorf("only %d refusals were tried", tried)
	}
	s, _ := access.ParseScope(access.Scope{Authors: "agent:*"})
	err := access.Identity{Role: access.Agent, Admits: s}.MayAdmit(&dag.Draft{Role: dag.RoleUser, Author: "human:anna"})
	if err == nil || !strings.Contains(err.Error(), "apikey create --role agent --admit-authors PATTERNS") {
		t.Errorf("of an author: %v", err)
	}
	if err := (access.Identity{Role: access.Agent}).MayAdmit(&dag.Draft{Role: dag.RoleSystem}); !strings.HasSuffix(err.Error(), "apikey create --role agent --admit-roles user,assistant,tool,system") {
		t.Errorf("of the default agent: %v", err)
	}
}

// TestSpacesOfScope is the table of who may have spaces, and of which they are.
func TestSpacesOfScope(t *testing.T) {
	s := access.Scope{Spaces: "acme/ops/*,acme/support"}
	for space, want := range map[string]bool{"acme/support": true, "acme/ops/eu": true, "acme/ops/eu/west": true, "acme/ops": false, "acme/supports": false, "other/acme/support": false, "": false} {
		if s.Sees(space) != want || !(access.Scope{}).Sees(space) {
			t.Errorf("%q: %v, want %v; and no spaces see every one", space, s.Sees(space), want)
		}
	}
	for _, role := range access.Roles {
		if err := s.CheckFor(role); (err == nil) != (role == access.Agent) {
			t.Errorf("a key of role %s with spaces: %v", role, err)
		}
	}
}
