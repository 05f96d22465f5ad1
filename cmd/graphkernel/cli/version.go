package cli

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/slice"
)

// VersionCommand makes the command that prints the version.
func (a *App) VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the program's and the protocol's version",
		Args:  NoArgs,
		RunE: func(*cobra.Command, []string) error {
			program, toolchain := BuildVersion()
			return a.IO.Print(map[string]string{"version": program, "protocol": slice.SchemaVersion, "go": toolchain}, func(w io.Writer) {
				fmt.Fprintln(w, VersionLine())
			})
		},
	}
}

// VersionLine returns the version of the program in a line.
func VersionLine() string {
	program, toolchain := BuildVersion()
	return fmt.Sprintf("graphkernel %s (%s, %s)", program, slice.SchemaVersion, toolchain)
}

// BuildVersion returns the versions that the toolchain wrote into the binary.
func BuildVersion() (program, toolchain string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	program = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && (program == "" || program == "(devel)") {
			program = "devel-" + s.Value[:12]
		}
	}
	if program == "" {
		program = "(devel)"
	}
	return program, info.GoVersion
}
