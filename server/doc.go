// Package server serves the kernel over HTTP: agents send requests, services verify, auditors replay. It owns
// authentication, limits, the form of requests and answers, logs and metrics. All other decisions are made by package
// kernel.
//
// Package api declares the operations, and api/describe describes them: routes and permissions come from the
// declaration, and package api reads every request according to the description, which openapi.json shows. In tests
// every answer, and every request that was answered, is checked against the description.
//
// A request passes, in this order: authentication, the key's rate (or the address's, if no key is needed: x-limited),
// the role's permission, its parameters, the arrival of its body, a place among the requests at work, the deadline,
// the parsing of its body, and then its handler. Any error on the way becomes a problem document (RFC 9457) according
// to the only table of errors, in package api/fault.
//
// The memory and the work that a caller can cause are limited: bodies and answers by a budget that counts their bytes
// as they arrive and leave (limit.go), work by places and a queue. A client that sends slowly does not have a place
// yet, and one that reads slowly has left its place.
//
// The tenant of a request is that of its key. No handler takes a tenant from anywhere else, except for the ledgers
// that the setting log.public opens to everybody.
//
// Ledgers are served according to C2SP tlog-tiles v0.1.0 (log.go), and other logs are cosigned according to C2SP
// tlog-witness v1.0.0 (evidence.go).
package server
