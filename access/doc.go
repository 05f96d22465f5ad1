// Package access owns the answer to one question: who is the caller, for which tenant, and what may the caller do. It
// defines the roles, what each role permits, and the API keys with their roles. It is pure: package apikeys records
// keys, and package server receives them.
//
// An API key is a text of four parts:
//
//	gk1.TENANT.ID.SECRET
//
// ID has 16 lowercase hex digits, SECRET 64. The key names the tenant, so that looking it up never crosses tenants.
// Only the SHA-256 of the whole text is stored: 256 random bits need no slow hash, and someone who reads the store
// cannot derive a usable key from it.
package access
