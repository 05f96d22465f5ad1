// Package access owns the answer to one question: who asks, for which tenant,
// and what may they do. It has the roles, what each role permits, and the API keys
// that carry them. It is pure: storing keys is package store's, presenting them is
// package server's.
//
// An API key is text of four parts,
//
//	gk1.TENANT.ID.SECRET
//
// with ID 16 lowercase hex digits and SECRET 64. The tenant is in it so that
// looking a key up never crosses tenants. Only the SHA-256 of the whole text is
// kept: 256 random bits need no slow hash, and anyone who reads the store cannot
// present them.
package access
