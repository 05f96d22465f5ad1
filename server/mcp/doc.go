// Package mcp serves the kernel over the Model Context Protocol. With its tools an agent admits turns, cuts slices,
// verifies, replays and explains them, and records and queries facts, or remembers with the tools of the public memory
// server. The package owns sessions, the form of tool calls, and the part of an error that a caller may see. All other
// decisions are made by package kernel.
//
//	s := mcp.New(k, mcp.Options{Log: log})
//	err := s.ServeStdio(ctx, access.Identity{Tenant: "default", Role: access.Agent}, os.Stdin, os.Stdout)
//
// Every caller has an identity before the first message: over stdio the program that starts the server provides it, and
// over HTTP the server around Handler has authenticated the request. The tenant comes from the identity and from
// nowhere else. A tool that the role does not permit is not listed, and calls of it are refused.
//
// The amount of text that a session adds to a model's window is limited: the session has the tools of a Selection of
// Sets, and an answer is text and appears once; the rest of a long answer is left for another call.
//
// The schemas of arguments are made from the types that the arguments are read into. These are types of package api if
// a tool is an operation of the service. api/describe/tools.md describes the tools. Arguments are read strictly, from
// the original bytes: an unknown member, a repeated member, or a number in another spelling is an error that names the
// place. Errors that the caller can correct are returned as a tool error in one sentence; all others are logged under a
// number, and the caller gets the number.
//
// The supported protocol versions are those with sessions, from 2024-11-05 to 2025-11-25.
package mcp
