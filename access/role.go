package access

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// A Role says what the holder of a key may do. The names are stable.
type Role string

// The roles.
const (
	Agent    Role = "agent"    // admits turns and facts, requests slices and facts, verifies
	Verifier Role = "verifier" // verifies, and follows the log
	Auditor  Role = "auditor"  // reads, verifies, replays and explains; changes nothing
	Admin    Role = "admin"    // everything, including erasure and policies
)

// Roles lists every role, from the least to the most powerful.
var Roles = [...]Role{Verifier, Agent, Auditor, Admin}

// ErrMayNot is wrapped if the role of a caller does not permit the request.
var ErrMayNot = errors.New("the role of the key does not permit it")

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	for _, r := range Roles {
		if s == string(r) {
			return r, nil
		}
	}
	return "", fmt.Errorf("%w: role %.80q, want agent, verifier, auditor or admin", dag.ErrForm, s)
}

// A Permission is an operation that a role may or may not perform.
type Permission uint8

// The permissions.
const (
	Admit            Permission = iota + 1 // add turns and facts
	Cut                                    // request slices
	Verify                                 // request the verification of tokens and bundles
	ListPolicies                           // see the policies, in order to name one
	Read                                   // see turns, conversations, issued slices and events
	Recall                                 // see facts
	Follow                                 // check that the ledger only grows: checkpoints, tiles of hashes, consistency, keys
	Replay                                 // request that slices are cut again
	Explain                                // ask why a turn is in a slice
	Register                               // bind a policy's id
	Erase                                  // delete a turn's text for good
	ManageKeys                             // create, list and revoke API keys of the tenant
	Believe                                // revise, contract and expand beliefs, move the tags current and published, add and remove aliases
	Govern                                 // say whose words count: set the standing policy, grant standings to keys, register policies of standing and of guards
	SpeakForOperator                       // bring turns of role system that count as the operator's word
)

var permissions = map[Permission]string{
	Admit: "admit", Cut: "slice", Verify: "verify", ListPolicies: "list policies", Read: "read", Recall: "recall", Follow: "follow the log",
	Replay: "replay", Explain: "explain", Register: "register policies", Erase: "erase", ManageKeys: "manage API keys", Believe: "revise beliefs",
	Govern: "govern", SpeakForOperator: "speak for the operator",
}

// String returns the name of the permission in messages.
func (p Permission) String() string { return permissions[p] }

var granted = map[Role][]Permission{
	Verifier: {Verify, Follow},
	Agent:    {Admit, Cut, Verify, ListPolicies, Recall, Follow},
	Auditor:  {Verify, ListPolicies, Read, Recall, Follow, Replay, Explain},
	Admin:    {Admit, Cut, Verify, ListPolicies, Read, Recall, Follow, Replay, Explain, Register, Erase, ManageKeys, Believe, Govern, SpeakForOperator},
}

// May reports whether a role has a permission. An unknown role has none.
func (r Role) May(p Permission) bool {
	for _, has := range granted[r] {
		if has == p {
			return true
		}
	}
	return false
}

// An Identity identifies a caller. The zero value may do nothing.
type Identity struct {
	Tenant  dag.Tenant
	Role    Role
	Admits  Scope  // which turns it may admit, and which spaces it sees
	Subject string // the key's id, or "jwt:" and the subject of a JWT; for logs and limits
	Model   bool   // a model makes the request through tools, with a credential that it was lent
}

// JWT is the prefix of the Subject of an Identity from a JWT. No id of an API key begins with it.
const JWT = "jwt:"

// MaxSubject is the maximum length of a JWT's subject, in bytes.
const MaxSubject = 200

// Credential returns the name of the caller's credential: the id of an API key, or "jwt:" and a subject. It is empty
// for a caller without a credential, such as an agent over stdio.
func (i Identity) Credential() string {
	if CheckCredential(i.Subject) != nil {
		return ""
	}
	return i.Subject
}

// CheckCredential returns an error for a text that does not name a credential.
func CheckCredential(name string) error {
	subject, isJWT := strings.CutPrefix(name, JWT)
	if !isJWT {
		return CheckID(name)
	}
	if !IsSubject(subject) {
		return fmt.Errorf("%w: want a subject of a JWT with 1 to %d bytes of printable text", dag.ErrForm, MaxSubject)
	}
	return nil
}

// IsSubject reports whether a text can be the subject of a JWT.
func IsSubject(s string) bool {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	return s != "" && len(s) <= MaxSubject && utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable)
}
