package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	stdpath "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/chunker"
	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/report"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/vfs"
)

func newAccess() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "access",
		Short: "Show who may see which page, and why",
		Args:  func(cmd *cobra.Command, args []string) error { return usage(cobra.NoArgs(cmd, args)) },
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExplain(), newList())
	return cmd
}

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain PATH [DIR]",
		Short: "Show which rule decides who sees PATH in DIR",
		Args:  func(cmd *cobra.Command, args []string) error { return usage(cobra.RangeArgs(1, 2)(cmd, args)) },
	}
	bindSettings(cmd, "explain")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := settings(cmd)
		if err != nil {
			return err
		}
		path, behind, err := explain(cmd.Context(), c, folder(args[1:], c), args[0])
		if err != nil {
			return err
		}
		return report.Explain(cmd.OutOrStdout(), c.Format, path, behind)
	}
	return cmd
}

// errNotSelected: there is nothing to explain.
var errNotSelected = errors.New("is not among the files that are indexed")

// explain resolves the whole folder, since other pages can decide on one, and picks a path as the tree or the caller's
// folder has it. Behind is what that leads to, if it is a link.
func explain(ctx context.Context, c config.Config, dir, name string) (path report.Explained, behind *report.Explained, err error) {
	from := sourceOptions(c, dir)
	from.Check = chunker.Check
	f, err := source.Open(dir, from)
	if err != nil {
		return path, nil, err
	}
	defer f.Close()
	listing, err := f.Walk(ctx)
	if err != nil {
		return path, nil, err
	}
	all, err := f.Survey(ctx, listing)
	if err != nil {
		return path, nil, err
	}
	res, err := resolve(ctx, c, all)
	if err != nil {
		return path, nil, err
	}
	path = report.Explained{Path: clean(name), Decision: res.Find(clean(name))}
	if path.Decision == nil {
		path = report.Explained{Path: pathInside(dir, name), Decision: res.Find(pathInside(dir, name))}
	}
	if path.Decision == nil {
		return path, nil, notSelected(listing, all, clean(name))
	}
	if target, ok := res.Behind(path.Path); ok {
		behind = &report.Explained{Path: target, Decision: res.Find(target)}
	}
	return path, behind, nil
}

func clean(name string) string {
	return strings.TrimPrefix(stdpath.Clean("/"+filepath.ToSlash(name)), "/")
}

// resolve asks for the default that is pinned only where it may decide.
func resolve(ctx context.Context, c config.Config, all *source.Survey) (*source.Resolution, error) {
	res, err := all.Resolve(nil)
	open := err == nil && res.Default.Access.Public
	if c.Default != nil || !open && !errors.Is(err, source.ErrNoDefault) {
		return res, err
	}
	def, err := pinned(ctx, c)
	if err != nil {
		return nil, err
	}
	return all.Resolve(def)
}

// notSelected says why there is no decision on a path.
func notSelected(listing *source.Listing, all *source.Survey, name string) error {
	for _, why := range []error{listing.Explain(name), listing.Explain(name + "/"), all.Explain(name)} {
		if why != nil && !errors.Is(why, fs.ErrNotExist) {
			return fmt.Errorf("%q %w: %w", name, errNotSelected, why)
		}
	}
	inside := func(file string) bool { return strings.HasPrefix(file, name+"/") }
	if slices.ContainsFunc(listing.Files, inside) {
		return fmt.Errorf("%q %w: it is a folder, which is there for whoever sees a file in it", name, errNotSelected)
	}
	return fmt.Errorf("%q %w", name, errNotSelected)
}

func newList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the published files as a viewer sees them, an anonymous one by default",
		Args:  func(cmd *cobra.Command, args []string) error { return usage(cobra.NoArgs(cmd, args)) },
	}
	bindSettings(cmd, "list")
	who := bindViewer(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := settings(cmd)
		if err != nil {
			return err
		}
		viewer, err := who.viewer(cmd.Context(), c)
		if err != nil {
			return err
		}
		list, err := listVisible(cmd.Context(), c, viewer)
		if err != nil {
			return err
		}
		return report.List(cmd.OutOrStdout(), c.Format, list)
	}
	return cmd
}

// listVisible walks what is published as the viewer does.
func listVisible(ctx context.Context, c config.Config, viewer access.Viewer) ([]report.Visible, error) {
	store, err := openStore(ctx, c, false)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	kept, err := openCache(c)
	if err != nil {
		return nil, err
	}
	at, err := location(ctx, c, store, newBuckets(c), kept)
	if err != nil {
		return nil, err
	}
	p, err := at.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the published snapshot: %w", err)
	}
	fsys := vfs.New(p.Tree, store, viewer, vfs.Options{Published: p.At}).WithContext(ctx)
	list := []report.Visible{}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		v, err := visible(p.Tree, name, d)
		list = append(list, v)
		return err
	})
	return list, err
}

func visible(tree *snapshot.Tree, name string, d fs.DirEntry) (report.Visible, error) {
	if d.IsDir() {
		return report.Visible{Path: name + "/"}, nil
	}
	info, err := d.Info()
	if err != nil {
		return report.Visible{}, err
	}
	v := report.Visible{Path: name, Size: info.Size()}
	if i, ok := tree.Find(name); ok {
		a := tree.At(i).Access
		v.Access = &a
	}
	return v, nil
}
