package main

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/report"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/verify"
)

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Open the published snapshot read-only and prove that ls, cat and grep answer as DIR does",
		Args:  atMostOneFolder,
	}
	var o verify.Options
	cmd.Flags().BoolVar(&o.NoFetch, "no-fetch", false, "of lazy files, only ask whether they are there with the right size, and read nothing")
	bindSettings(cmd, "verify")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := settings(cmd)
		if err != nil {
			return err
		}
		o.Dir = folder(args, c)
		return runVerify(cmd, c, o)
	}
	return cmd
}

func runVerify(cmd *cobra.Command, c config.Config, o verify.Options) error {
	start := time.Now()
	o.Source, o.Collection = sourceOptions(c, o.Dir), c.Collection
	if err := cmp.Or(checkFolder(o.Dir, o.Source), checkOutside(o.Dir, c)); err != nil {
		return err
	}
	ctx, b := cmd.Context(), newBuckets(c)
	store, err := openStore(ctx, c, false)
	if err != nil {
		return err
	}
	defer store.Close()
	at, err := location(ctx, c, store, b, nil)
	if err != nil {
		return err
	}
	// Nothing is kept from before: what is proven is what the storage holds.
	o.Blobs = func(ctx context.Context, tree *snapshot.Tree) (verify.Blobs, error) {
		store, err := blobsToRead(ctx, c, b, tree.Header().Blobs)
		return blob.NewFiles(blob.FilesOptions{Store: store, Open: b.origin, Apart: true, MemoryBytes: 2 * blob.WholeBytes}), err
	}
	line := newProgress(os.Stderr)
	o.Progress = line.show
	result, err := verify.Run(ctx, store, at, o)
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
