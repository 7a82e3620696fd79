package main

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/report"
	"github.com/chromafs/chromafs/verify"
)

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Open the published snapshot read-only and prove that ls, cat and grep answer as DIR does",
		Args:  atMostOneFolder,
	}
	bindSettings(cmd, "verify")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := settings(cmd)
		if err != nil {
			return err
		}
		return runVerify(cmd, c, folder(args, c))
	}
	return cmd
}

func runVerify(cmd *cobra.Command, c config.Config, dir string) error {
	start := time.Now()
	from := sourceOptions(c, dir)
	if err := cmp.Or(checkFolder(dir, from), checkOutside(dir, c)); err != nil {
		return err
	}
	store, err := openStore(cmd.Context(), c, false)
	if err != nil {
		return err
	}
	defer store.Close()
	line := newProgress(os.Stderr)
	result, err := verify.Run(cmd.Context(), store, location(c, store), verify.Options{Dir: dir, Collection: c.Collection, Source: from, Progress: line.show})
	line.clear()
	if err != nil {
		return err
	}
	if err := report.Verify(cmd.OutOrStdout(), c.Format, result, time.Since(start).Seconds()); err != nil {
		return err
	}
	if !result.OK() {
		return errDifferent
	}
	return nil
}
