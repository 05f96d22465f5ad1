// Package secrets owns what becomes of secrets in text before it is stored: [Scanner] finds keys, tokens and passwords, and a
// [Screen] reports them, replaces them by marked tokens, or refuses the turn that has one.
//
// The rules are those of gitleaks (gitleaks/LICENSE), converted by a program in the module interop, and one of our own for
// payment cards. A token looks like this:
//
//	[secret:github-pat:3f9a1c2b4d5e]
//
// It names the rule and 48 bits of a keyed digest of the secret: under one key, equal secrets have equal tokens, and nobody without the
// key can try out which secret it was.
//
// Differences from gitleaks: a turn has no path and no commit, so rules for names of files are left out, and rules and
// exceptions for some names apply to all text. A comment "gitleaks:allow" allows nothing, since the text may be an attacker's. Nothing is decoded before
// it is scanned.
package secrets
