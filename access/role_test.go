package access_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// TestMay is the whole table, written out.
func TestMay(t *testing.T) {
	const yes, no = true, false
	names := map[string]bool{}
	for _, row := range []struct {
		permission                             access.Permission
		verifier, agent, auditor, admin, other bool
	}{
		{access.Admit, no, yes, no, yes, no},
		{access.Cut, no, yes, no, yes, no},
		{access.Verify, yes, yes, yes, yes, no},
		{access.ListPolicies, no, yes, yes, yes, no},
		{access.Read, no, no, yes, yes, no},
		{access.Recall, no, yes, yes, yes, no},
		{access.Follow, yes, yes, yes, yes, no},
		{access.Replay, no, no, yes, yes, no},
		{access.Explain, no, no, yes, yes, no},
		{access.Register, no, no, no, yes, no},
		{access.Erase, no, no, no, yes, no},
		{0, no, no, no, no, no},
		{access.ManageKeys, no, no, no, yes, no},
		{access.Believe, no, no, no, yes, no},
		{access.Govern, no, no, no, yes, no},
		{access.SpeakForOperator, no, no, no, yes, no},
		{access.SpeakForOperator + 1, no, no, no, no, no},
	} {
		for role, want := range map[access.Role]bool{
			access.Verifier: row.verifier, access.Agent: row.agent, access.Auditor: row.auditor, access.Admin: row.admin,
			"": row.other, "Admin": row.other, "root": row.other,
		} {
			if got := role.May(row.permission); got != want {
				t.Errorf("%q may %s (%d): %v, want %v", role, row.permission, row.permission, got, want)
			}
		}
		if row.admin {
			names[row.permission.String()] = true
		}
	}
	if len(names) != 15 || names[""] {
		t.Errorf("the permissions have the names %v, want fifteen different ones", names)
	}
}

func TestParseRole(t *testing.T) {
	for _, role := range access.Roles {
		if got, err := access.ParseRole(string(role)); err != nil || got != role {
			t.Errorf("ParseRole(%q) gave %q, %v", role, got, err)
		}
	}
	for _, s := range []string{"", "Agent", " agent", "agent ", "root", "agent,admin", strings.Repeat("x", 1000)} {
		got, err := access.ParseRole(s)
		if !errors.Is(err, dag.ErrForm) || got != "" {
			t.Errorf("ParseRole(%.20q) gave %q, %v, want dag.ErrForm", s, got, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("the message has %d bytes", len(err.Error()))
		}
	}
}
