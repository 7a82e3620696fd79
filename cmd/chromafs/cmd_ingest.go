package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/report"
	"github.com/chromafs/chromafs/source"
)

func newIngest() *cobra.Command {
	var o ingest.Options
	cmd := &cobra.Command{
		Use:   "ingest [DIR]",
		Short: "Index DIR and publish a snapshot",
		Args:  atMostOneFolder,
	}
	f := cmd.Flags()
	f.BoolVar(&o.Rewrite, "rewrite", false, "write every record and send every lazy file again, whatever is stored")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would be done, and write nothing")
	f.BoolVar(&o.AllowWiden, "allow-widen", false, "publish although pages would be seen by more viewers than now")
	f.BoolVar(&o.DenyInvalid, "deny-invalid", false, "publish although it can't be told who may see some pages; nobody sees those")
	bindSettings(cmd, "ingest")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := settings(cmd)
		if err != nil {
			return err
		}
		o.Dir = folder(args, c)
		return runIngest(cmd, c, o)
	}
	return cmd
}

func runIngest(cmd *cobra.Command, c config.Config, o ingest.Options) error {
	start := time.Now()
	o.Collection, o.Site, o.URL, o.Source, o.Now = c.Collection, c.Site, c.URL, sourceOptions(c, o.Dir), start
	if err := cmp.Or(checkFolder(o.Dir, o.Source), checkOutside(o.Dir, c)); err != nil {
		return err
	}
	ctx, b := cmd.Context(), newBuckets(c)
	var err error
	if o.Blobs, o.BlobsURI, err = blobsToWrite(ctx, c, b); err != nil {
		return err
	}
	o.Origin = b.origin
	store, err := openStore(ctx, c, true)
	if err != nil {
		return err
	}
	defer store.Close()
	at, err := location(ctx, c, store, b, nil)
	if err != nil {
		return err
	}
	line := newProgress(os.Stderr)
	o.Progress = line.show
	result, err := ingest.Run(ctx, store, at, o)
	line.clear()
	if result == nil {
		return err
	}
	warn(cmd.ErrOrStderr(), c, result)
	if errors.Is(err, ingest.ErrWiden) && !o.DryRun && c.Format != report.JSON {
		report.Widened(cmd.ErrOrStderr(), result)
		return err
	}
	return cmp.Or(report.Ingest(cmd.OutOrStdout(), c.Format, result, o.DryRun, time.Since(start).Seconds()), err)
}

// sourceOptions say what to select in dir, and who may see it. The embedded store is on the owner's own machine, so a
// folder that says nothing is public there; on a server the owner must have said so.
func sourceOptions(c config.Config, dir string) source.Options {
	return source.Options{
		Include: c.Include, Exclude: c.Exclude, Rules: c.Rules, Default: c.Default, DefaultAt: c.DefaultAt, Unmarked: c.Chroma == "",
		Config: pathInside(dir, realPath(c.File)), Lazy: source.LazyOptions{SpecBytes: c.Lazy.SpecBytes, Match: c.Lazy.Match},
		Pointers: pointers(c.Lazy.Pointers),
	}
}

func pointers(list []config.Pointer) (out []source.Pointer) {
	for _, p := range list {
		out = append(out, source.Pointer(p))
	}
	return out
}

// pathInside is the path of file as the tree of dir has it, empty if it is not in there, or there is none.
func pathInside(dir, file string) string {
	realDir, err := filepath.EvalSymlinks(dir)
	if file == "" || err != nil {
		return ""
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return ""
	}
	rel, err := relative(realDir, filepath.Join(folder, filepath.Base(file)))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// realPath is what file leads to through links.
func realPath(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return target
	}
	return file
}

// checkFolder fails where the folder or a glob is wrong, before a store is made for it.
func checkFolder(dir string, from source.Options) error {
	f, err := source.Open(dir, from)
	if err != nil {
		return err
	}
	return f.Close()
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
	if c.Default == nil && r.Default.Access.Public {
		fmt.Fprintln(w, "chromafs: every page is public: nothing says otherwise (access.default)")
	}
}
