package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/server/mcp"
)

func mcpCommand(a *cli.App) *cobra.Command {
	var role, tools, speaksFor string
	var memory bool
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent on this machine over the Model Context Protocol",
		Long: `Speaks the Model Context Protocol on standard input and output, until the input ends; an MCP client starts
this command. Makes the store if there is none. Standard output carries only the protocol; messages go to
standard error. docs/mcp.md shows how to set up clients, and lists every tool.

A model reads the definitions of its tools before anything else, so there are few of them by default. --tools
names sets of tools, and single tools, separated by commas:

` + toolSets() + `
The default is everyday, or audit with --role auditor.

--role says what the client may do, whatever the permissions of the store's file. Tools that the role does not
permit are absent, whatever --tools says:

  agent     records turns and facts, gets slices, verifies, asks for facts
  auditor   reads, verifies, replays and explains; changes nothing
  verifier  verifies bundles
  admin     all of these

--memory stands for --tools memory, and adds this set to what --tools names: graphkernel mcp --memory has the
nine tools of the public MCP memory server (create_entities, search_nodes and so on) and no others, so it can
replace that server. docs/mcp.md lists the differences.

--speaks-for lists the authors whose words the client may bring as their own, such as human:user. Without it,
whatever the role, a turn that the client brings in a person's name is admitted and marked: it counts as data,
and nobody takes it for that person's word.

What the client brings is stored unchanged. Secrets in turns, facts and tasks are reported on standard error,
or the call is refused with --admitted-secrets refuse.

There are no tools to erase turns or register policies: no role may do so over this protocol.`,
		Example: "  claude mcp add graphkernel -- graphkernel mcp\n  claude mcp add memory -- graphkernel mcp --memory\n  graphkernel mcp --tools everyday,knowledge_path",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("tools") && tools == "" {
				return cli.Usagef("--tools is empty; leave it out, or name sets of tools")
			}
			if memory {
				tools = strings.TrimPrefix(tools+","+mcp.MemorySet, ",")
			}
			return serveMCP(a, c.Context(), role, tools, speaksFor)
		},

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&role, "role", string(access.Agent), "agent, auditor, verifier or admin")
	c.Flags().StringVar(&speaksFor, "speaks-for", "", "patterns of the authors for whom the client speaks: turns that it admits in their names are their words, and turns in the name of any other person are data (default: nobody)")
	cli.NoFiles(c, "speaks-for")
	c.Flags().StringVar(&tools, "tools", "", "sets of tools and single tools, separated by commas, such as everyday or all")
	c.Flags().StringVar(&a.Settings.AdmittedFlag, "admitted-secrets", "", "what to do about secrets in turns, facts and tasks that the client brings: report (a line on standard error), refuse or off ($"+cli.AdmittedVariable+"; default report)")
	_ = c.RegisterFlagCompletionFunc("admitted-secrets", cobra.FixedCompletions([]string{"report", "refuse", "off"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	c.Flags().BoolVar(&memory, "memory", false, "add the tools of the public memory server")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"agent", "auditor", "verifier", "admin"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("tools", completeTools)                                                                                                // the flag exists
	return c
}

// toolSets returns a line of help for each set.
func toolSets() string {
	var b strings.Builder
	for _, set := range mcp.Sets {
		fmt.Fprintf(&b, "  %-9s %s\n", set.Name, set.For)
	}
	return b.String()
}

// completeTools completes the last name in a list with commas.
func completeTools(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	given := strings.Split(before, ",")
	var list []string
	for _, name := range mcp.ToolNames() {
		if strings.HasPrefix(before+name, typed) && !slices.Contains(given, name) {
			list = append(list, before+name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
}

func serveMCP(a *cli.App, ctx context.Context, name, tools, speaksFor string) error {
	if a.IO.Output == "json" {
		return cli.Usagef("graphkernel mcp speaks its protocol on standard output; leave out --output json")
	}
	role, err := access.ParseRole(name)
	if err != nil {
		return cli.Usagef("--role: %v", err)
	}
	speaks, err := access.ParseScope(access.Scope{SpeaksFor: speaksFor})
	if err == nil && speaksFor != "" && role != access.Agent && role != access.Admin {
		err = fmt.Errorf("the role %s admits no turns", role)
	}
	if err != nil {
		return cli.Usagef("--speaks-for: %v", err)
	}
	selected, err := mcp.ParseTools(tools)
	if err != nil {
		return cli.Usagef("--tools: %v", err)
	}
	ring, err := a.Signing.Keyring()
	if err != nil {
		return err
	}
	return a.Stores.ForRequests().WithStore(ctx, ring, cli.ToMake, func(s *cli.Session) error {
		ctx, cancel := context.WithCancel(ctx)
		indexed := s.BesideIndex(ctx)
		defer indexed()
		defer cancel()
		version, _ := cli.BuildVersion()
		project, err := cli.ProjectHere(ctx)
		if err != nil {
			return err
		}
		spool, err := a.Settings.Spool()
		if err != nil {
			return err
		}
		folder, err := os.Getwd()
		if err != nil {
			return err
		}
		server := mcp.New(s.Kernel, mcp.Options{
			Log: slog.New(slog.NewTextHandler(a.IO.Stderr, nil)), Version: version, Tools: selected, Project: project,
			Brief: func(ctx context.Context) (*api.ContextRequest, error) { return capture.BriefOf(ctx, s, spool, folder) },
		})
		who := access.Identity{Tenant: s.Tenant, Role: role, Subject: access.Stdio, Admits: speaks}
		return server.ServeStdio(ctx, who, io.NopCloser(a.IO.Stdin), keepOpen{a.IO.Stdout})
	})
}

// keepOpen is a writer that somebody else closes.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }
