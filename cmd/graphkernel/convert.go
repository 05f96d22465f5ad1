package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// conversions lists what a bundle can be converted to.
var conversions = []string{"prov", "openlineage", "sigstore"}

func (a *app) convertCommand() *cobra.Command {
	var to, out string
	c := &cobra.Command{
		Use:   "convert BUNDLE --to FORMAT",
		Short: "Write an issued bundle in a form that other people's tools read",
		Long: `Formats:

  prov         W3C PROV-JSON: turns and the slice as entities, the cut as an activity, the
               policy as its plan, authors and the kernel as agents, edges as derivation,
               erasure as invalidation. It holds no text.
  openlineage  an OpenLineage event of the cut, for a catalogue. No text, no authors.
  sigstore     a folder with a Sigstore bundle, a trusted root and a public key, which
               cosign verifies with the ledger's proof of inclusion and no network:

  cosign verify-blob-attestation --key cosign.pub --bundle bundle.sigstore.json \
    --trusted-root trusted_root.json --type TYPE bundle.json

TYPE is https://github.com/graphkernel/graphkernel/attestation/slice/v1. The bundle must have
been issued from this store.`,
		Example: `  graphkernel convert slice.json --to prov -o slice.prov.json
  graphkernel convert slice.json --to sigstore -o sigstore`,
		Args: oneArg("BUNDLE"),
		RunE: func(c *cobra.Command, args []string) error { return a.convert(c.Context(), args[0], to, out) },
	}
	c.Flags().StringVar(&to, "to", "", "prov, openlineage or sigstore")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write, for sigstore the folder; standard output if absent")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(conversions, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func (a *app) convert(ctx context.Context, path, to, out string) error {
	if !slices.Contains(conversions, to) {
		return usagef("--to is %q, want prov, openlineage or sigstore", to)
	}
	if to == "sigstore" && toStdout(out) {
		return usagef("--to sigstore writes several files and needs -o FOLDER")
	}
	data, err := a.readFile(ctx, path, slice.MaxBundle)
	if err != nil {
		return err
	}
	if _, err := a.somebody(); err != nil {
		return err
	}
	if to == "sigstore" {
		return a.withKernel(ctx, token.Keyring{}, func(s *session) error { return a.toSigstore(ctx, s, data, out) })
	}
	err = a.writeTo(out, func(w io.Writer) error {
		return a.withKernel(ctx, token.Keyring{}, func(s *session) error {
			as := s.Prov
			if to == "openlineage" {
				as = s.OpenLineage
			}
			text, err := as(ctx, s.tenant, data)
			if err != nil {
				return ofTenant(err)
			}
			return writeDocument(w, text)
		})
	})
	if err != nil || a.output != "json" || toStdout(out) {
		return err
	}
	return a.printJSON(map[string]string{"file": out, "format": to})
}

// writeDocument writes JSON: a file holds the exact bytes, a screen only shows them.
func writeDocument(w io.Writer, text []byte) error {
	if isTerminal(w) {
		text = append(render.EscapeJSON(text), '\n')
	}
	_, err := w.Write(text)
	return err
}

func (a *app) toSigstore(ctx context.Context, s *session, data []byte, out string) error {
	export, err := s.Sigstore(ctx, s.tenant, data)
	if err != nil {
		return ofTenant(err)
	}
	if err := writeFolder(out, map[string][]byte{
		"bundle.json": data, "bundle.sigstore.json": export.Bundle, "trusted_root.json": export.TrustedRoot, "cosign.pub": export.PublicKey,
	}); err != nil {
		return err
	}
	return a.print(map[string]string{"folder": out, "format": "sigstore"}, func(w io.Writer) {
		fmt.Fprintf(w, "in %s; hand trusted_root.json and cosign.pub on by another way than the rest\n", out)
	})
}
