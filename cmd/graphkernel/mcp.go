package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/server/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var role string
	var memory bool
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent on this machine over the Model Context Protocol",
		Long: `Speaks the Model Context Protocol on standard input and output, until the input
ends: an MCP client starts this command. Makes the store if there is none. Standard
output carries nothing but the protocol; messages go to standard error. docs/mcp.md
shows how clients are set up.

--role says what the client may do, whoever may read the store:

  agent     admit_turns cut_slice verify_bundle list_policies, and all that begin with knowledge_
  auditor   verify_bundle replay_slice explain_turn list_policies, and reading, facts too
  verifier  verify_bundle
  admin     all of these

--memory adds the nine tools of the public MCP memory server (create_entities, search_nodes and
so on) over the same facts: it can be put in that server's place. docs/mcp.md tells what differs.

Erasing turns and registering policies are no tools: over this protocol no role may.`,
		Example: "  claude mcp add graphkernel -- graphkernel mcp",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.mcp(c.Context(), role, memory) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&role, "role", string(access.Agent), "agent, auditor, verifier or admin")
	c.Flags().BoolVar(&memory, "memory", false, "have the tools of the public memory server, too")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"agent", "auditor", "verifier", "admin"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func (a *app) mcp(ctx context.Context, name string, memory bool) error {
	if a.output == "json" {
		return usagef("graphkernel mcp speaks its protocol on standard output; leave out --output json")
	}
	role, err := access.ParseRole(name)
	if err != nil {
		return usagef("--role: %v", err)
	}
	ring, err := a.keyring()
	if err != nil {
		return err
	}
	return a.withNewKernel(ctx, ring, func(s *session) error {
		version, _ := buildVersion()
		server := mcp.New(s.Kernel, mcp.Options{Log: slog.New(slog.NewTextHandler(a.stderr, nil)), Version: version, Memory: memory})
		who := access.Identity{Tenant: s.tenant, Role: role, Subject: "stdio"}
		return server.ServeStdio(ctx, who, io.NopCloser(a.stdin), keepOpen{a.stdout})
	})
}

// keepOpen is a writer that belongs to somebody else.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }
