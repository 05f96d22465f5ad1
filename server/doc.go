// Package server is the kernel over HTTP: agents ask, services verify, auditors
// replay. It owns authentication, limits, the form of requests and answers, and
// what is observed of them. What is true it asks of package kernel.
//
// Package api declares the operations, and api/describe describes them: routes and permissions
// come from the declaration, and every request is read by package api as the description says, which
// openapi.json shows. In tests every answer, and every request that was answered, is checked against it.
//
// A request passes, in this order: authentication, the key's rate (or the address's, where
// no key is asked for: x-limited), the role's permission, its parameters, its body as it
// comes, a place among the requests at work, the deadline, the reading of its body, and then
// its handler. Whatever fails on the way becomes a problem document (RFC 9457) by the one
// table in problem.go.
//
// What a caller can make the service hold is bounded: bodies and answers by a budget
// that counts them as they come and go (limit.go), work by places and in turn. A client
// that sends slowly has no place yet, and one that reads slowly none any more.
//
// The tenant of a request is its key's. No handler takes one from anywhere else, except for
// ledgers that the setting log.public opens to everybody.
//
// Ledgers are served as C2SP tlog-tiles v0.1.0 (log.go), and other logs are cosigned as
// C2SP tlog-witness v1.0.0 says (evidence.go).
package server
