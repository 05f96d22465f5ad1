// Package mcp is the kernel over the Model Context Protocol: an agent admits turns,
// cuts slices, verifies, replays and explains them, and keeps and asks facts, as tools of
// its own, or remembers with those of the public memory server. It owns sessions, the form
// of tool calls, and what of an error a caller is told. What is true it asks of package
// kernel.
//
//	s := mcp.New(k, mcp.Options{Log: log})
//	err := s.ServeStdio(ctx, access.Identity{Tenant: "default", Role: access.Agent}, os.Stdin, os.Stdout)
//
// Anyone who asks has an identity before the first message: over stdio the program that
// starts the server gives it, over HTTP the server around Handler has authenticated
// the request. The tenant is the identity's and comes from nowhere else. A tool that
// its role does not permit is not listed, and a call of it is refused.
//
// All that a session brings into a model's window is bounded: the tools are those of a
// Selection of Sets, and an answer is text, said once; where it is long, a part of it is left for another
// call.
//
// The schemas of arguments are made from the types that the arguments are read into, those of
// package api where a tool is an operation of the service; api/describe/tools.md says what each tool
// is for. Arguments are read strictly, from the bytes that came: an unknown member, a repeated
// one or a number in another spelling is an error that says where. What a caller can mend comes back as a tool
// error in a sentence; whatever else fails is logged, and the caller learns the
// number under which.
//
// The protocol's versions are those with sessions, from 2024-11-05 to 2025-11-25.
package mcp
