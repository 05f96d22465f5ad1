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
	Agent    Role = "agent"    // admits turns and facts, asks for slices and facts, verifies
	Verifier Role = "verifier" // verifies, and follows the log
	Auditor  Role = "auditor"  // reads, verifies, replays and explains; changes nothing
	Admin    Role = "admin"    // everything, erasure and policies included
)

// Roles lists every role, the least first.
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

// A Permission is one thing that a role may do or not.
type Permission uint8

// The permissions.
const (
	Admit        Permission = iota + 1 // add turns and facts
	Cut                                // ask for slices
	Verify                             // have tokens and bundles judged
	ListPolicies                       // see the policies, to name one
	Read                               // see turns, conversations, issued slices and events
	Recall                             // see facts
	Follow                             // see that the ledger only grows: checkpoints, tiles of hashes, consistency, keys
	Replay                             // have slices cut again
	Explain                            // ask why a turn is in a slice
	Register                           // bind a policy's id
	Erase                              // delete a turn's text for good
	ManageKeys                         // make, list and revoke API keys of the tenant
	Believe                            // revise, contract and expand beliefs, move the tags current and published, add and remove aliases
)

var permissions = map[Permission]string{
	Admit: "admit", Cut: "slice", Verify: "verify", ListPolicies: "list policies", Read: "read", Recall: "recall", Follow: "follow the log",
	Replay: "replay", Explain: "explain", Register: "register policies", Erase: "erase", ManageKeys: "manage API keys", Believe: "revise beliefs",
}

// String returns the permission as it is in messages.
func (p Permission) String() string { return permissions[p] }

var granted = map[Role][]Permission{
	Verifier: {Verify, Follow},
	Agent:    {Admit, Cut, Verify, ListPolicies, Recall, Follow},
	Auditor:  {Verify, ListPolicies, Read, Recall, Follow, Replay, Explain},
	Admin:    {Admit, Cut, Verify, ListPolicies, Read, Recall, Follow, Replay, Explain, Register, Erase, ManageKeys, Believe},
}

// May reports whether a role has a permission. No other role has any.
func (r Role) May(p Permission) bool {
	for _, has := range granted[r] {
		if has == p {
			return true
		}
	}
	return false
}

// An Identity is who asks. The zero value may do nothing.
type Identity struct {
	Tenant  dag.Tenant
	Role    Role
	Admits  Scope  // which turns it may bring, and which spaces are there for it
	Subject string // the key's id, or "jwt:" and the subject of a JWT; for logs and limits
	Model   bool   // a model asks through tools, with whichever credential it was lent
}

// JWT begins the Subject of an Identity that a JWT gives. The id of no API key begins so.
const JWT = "jwt:"

// MaxSubject bounds the bytes of a JWT's subject.
const MaxSubject = 200

// Credential names what the caller came with: the id of an API key, or "jwt:" and a subject.
// It is empty for a caller who came with neither, such as an agent over stdio.
func (i Identity) Credential() string {
	if CheckCredential(i.Subject) != nil {
		return ""
	}
	return i.Subject
}

// CheckCredential reports a text that names no credential.
func CheckCredential(name string) error {
	subject, isJWT := strings.CutPrefix(name, JWT)
	if !isJWT {
		return CheckID(name)
	}
	if !IsSubject(subject) {
		return fmt.Errorf("%w: the subject of a JWT has 1 to %d bytes of printable text", dag.ErrForm, MaxSubject)
	}
	return nil
}

// IsSubject reports whether a text can be the subject of a JWT.
func IsSubject(s string) bool {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	return s != "" && len(s) <= MaxSubject && utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable)
}
