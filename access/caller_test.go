package access_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/access"
)

// TestVouches goes through every role, door and kind of credential: the word of a caller is a person's if the role may revise beliefs and no model asks.
func TestVouches(t *testing.T) {
	people := 0
	for _, role := range append([]access.Role{""}, access.Roles[:]...) {
		for _, subject := range []string{"", access.Local, access.Stdio, "0123456789abcdef", "jwt:anna"} {
			for _, model := range []bool{false, true} {
				who := access.Identity{Tenant: "acme", Role: role, Subject: subject, Model: model}
				want := role == access.Admin && subject != access.Stdio && !model
				if who.Vouches() != want {
					t.Errorf("%+v: %t, want %t", who, !want, want)
				}
				if want {
					people++
				}
			}
		}
	}
	if people != 4 || !(access.Identity{}).Vouches() {
		t.Errorf("%d persons; a program that names no caller vouches: %t", people, (access.Identity{}).Vouches())
	}
}
