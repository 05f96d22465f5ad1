// Package secrets owns the handling of secrets in text before it is stored: a [Scanner] finds keys, tokens and passwords, and a
// [Screen] reports them, replaces them by marked tokens, or refuses the turn that contains one.
//
// The rules are those of gitleaks (gitleaks/LICENSE), converted by a program in the module interop, and this package's own,
// such as one for payment cards. A token looks like this:
//
//	[secret:github-pat:3f9a1c2b4d5e]
//
// It contains the name of the rule and 48 bits of a keyed digest of the secret. Under one key, equal secrets have equal tokens,
// and nobody without the key can test guesses of the secret.
//
// Differences from gitleaks: a turn has no path and no commit, so rules for file names are left out, and rules and exceptions
// for some file names apply to all text. A comment "gitleaks:allow" has no effect, since the text may be an attacker's. Nothing
// is decoded before it is scanned, except the escapes of strings.
package secrets
