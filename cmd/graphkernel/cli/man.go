package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// ManCommand makes the command that writes manual pages. It is for packaging, so help does not list it.
func (a *App) ManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write a manual page for each command",
		Long:   "Writes a page of section 1 for each command into a folder, which is made if there is none. SOURCE_DATE_EPOCH dates the pages,\nso that the same program writes the same pages.",
		Hidden: true,
		Args:   OneArg("FOLDER"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			program, _ := BuildVersion()
			header := &doc.GenManHeader{Title: "GRAPHKERNEL", Section: "1", Source: "graphkernel " + program, Manual: "Graph Kernel"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "graphkernel*.1"))
			if err != nil {
				return err
			}
			return a.IO.Print(map[string]any{"folder": args[0], "pages": len(pages)}, func(w io.Writer) {
				fmt.Fprintf(w, "%s in %s\n", Count(len(pages), "page"), args[0])
			})
		},
	}
}
