package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/report"
	"github.com/chromafs/chromafs/source"
)

// errNoDefault: only the owner of a site knows whether it needs a sign-in; the folder can't tell.
var errNoDefault = errors.New("nothing says who may see the pages")

func newIngest() *cobra.Command {
	var rewrite bool
	cmd := &cobra.Command{
		Use:   "ingest [DIR]",
		Short: "Index DIR and publish a snapshot",
		Args:  atMostOneFolder,
	}
	cmd.Flags().BoolVar(&rewrite, "rewrite", false, "write every record again, whatever the store holds")
	bindSettings(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := settings(cmd)
		if err != nil {
			return err
		}
		return runIngest(cmd, c, folder(args, c), rewrite)
	}
	return cmd
}

func runIngest(cmd *cobra.Command, c config.Config, dir string, rewrite bool) error {
	start := time.Now()
	def, err := defaultAccess(c)
	if err != nil {
		return err
	}
	from := source.Options{Include: c.Include, Exclude: c.Exclude}
	if err := cmp.Or(checkFolder(dir, from), checkOutside(dir, c)); err != nil {
		return err
	}
	store, err := openStore(cmd.Context(), c, true)
	if err != nil {
		return err
	}
	defer store.Close()
	line := newProgress(os.Stderr)
	result, err := ingest.Run(cmd.Context(), store, location(c, store), ingest.Options{
		Dir: dir, Collection: c.Collection, Site: c.Site, URL: c.URL, Default: def, Rewrite: rewrite,
		Source: from, Now: start, Progress: line.show,
	})
	line.clear()
	if err != nil {
		return err
	}
	warn(cmd.ErrOrStderr(), c, result)
	return report.Ingest(cmd.OutOrStdout(), c.Format, result, time.Since(start).Seconds())
}

// checkFolder fails where the folder or a glob is wrong, before a store is made for it.
func checkFolder(dir string, from source.Options) error {
	f, err := source.Open(dir, from)
	if err != nil {
		return err
	}
	return f.Close()
}

// defaultAccess is who sees a page that nothing else decides. On a server the owner must have said so; the embedded
// store is on the owner's own machine, where every page is public.
func defaultAccess(c config.Config) (access.Access, error) {
	switch {
	case c.Default != nil:
		return *c.Default, nil
	case c.Chroma != "":
		return access.Nobody(), errNoDefault
	}
	return access.Everyone(), nil
}

// place is where a warning is from: file, line, or neither where the whole folder is meant.
func place(w source.Warning) string {
	switch {
	case w.Path == "":
		return ""
	case w.Line == 0:
		return w.Path + ": "
	}
	return fmt.Sprintf("%s:%d: ", w.Path, w.Line)
}

func warn(w io.Writer, c config.Config, r *ingest.Result) {
	if c.Format == report.JSON {
		return
	}
	for _, x := range r.Warnings {
		fmt.Fprintf(w, "chromafs: warning: %s%s\n", report.Printable(place(x)), report.Printable(x.Text))
	}
	if c.Default == nil {
		fmt.Fprintln(w, "chromafs: every page is public: nothing says otherwise (access.default)")
	}
}
