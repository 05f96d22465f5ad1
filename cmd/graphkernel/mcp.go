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
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent on this machine over the Model Context Protocol",
		Long: `Speaks the Model Context Protocol on standard input and output, until the input
ends: an MCP client starts this command. Makes the store if there is none. Standard
output carries nothing but the protocol; messages go to standard error. docs/mcp.md
shows how clients are set up.

--role says what the client may do, whoever may read the store:

  agent     admit_turns cut_slice verify_bundle list_policies
  auditor   verify_bundle replay_slice explain_turn list_policies, and reading
  verifier  verify_bundle
  admin     all of these

Erasing turns and registering policies are no tools: over this protocol no role may.`,
		Example: "  claude mcp add graphkernel -- graphkernel mcp",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.mcp(c.Context(), role) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&role, "role", string(access.Agent), "agent, auditor, verifier or admin")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"agent", "auditor", "verifier", "admin"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func (a *app) mcp(ctx context.Context, name string) error {
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
		server := mcp.New(s.Kernel, mcp.Options{Log: slog.New(slog.NewTextHandler(a.stderr, nil)), Version: version})
		who := access.Identity{Tenant: s.tenant, Role: role, Subject: "stdio"}
		return server.ServeStdio(ctx, who, io.NopCloser(a.stdin), keepOpen{a.stdout})
	})
}

// keepOpen is a writer that belongs to somebody else.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }
