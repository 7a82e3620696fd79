package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/chromafs/chromafs/source"
)

// compareFolders lists every folder on both sides, and files each name under what it is.
func (r *run) compareFolders(ctx context.Context) error {
	listing, err := r.folder.Walk(ctx)
	if err != nil {
		return err
	}
	r.listing = listing
	if err := r.compareFolder(ctx, "."); err != nil {
		return err
	}
	r.comparePointers()
	if len(r.absentLinks) > 0 {
		r.explainLinks()
	}
	for i, seen := range r.seen {
		if !seen {
			r.extra(r.tree.Path(i))
		}
	}
	return nil
}

// extra explains why a path of the snapshot should not be there.
func (r *run) extra(name string) {
	detail := "in the snapshot, but not in the folder"
	var ignored *source.Ignored
	if errors.As(r.listing.Explain(name), &ignored) {
		detail = "in the snapshot, but the folder ignores it: " + ignoredBy(ignored)
	}
	r.findings.add(KindExtra, name, detail)
}

func ignoredBy(i *source.Ignored) string {
	if i.Detail == "" {
		return string(i.Reason)
	}
	return fmt.Sprintf("%s (%s)", i.Reason, i.Detail)
}

// compareFolder merges the folder's own list of names with the reader's.
func (r *run) compareFolder(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	have, err := os.ReadDir(r.onDisk(dir))
	if err != nil {
		return fmt.Errorf("list the docs folder: %w", err)
	}
	shown := r.list(dir)
	r.report.Folders++
	for _, d := range have {
		name := path.Join(dir, d.Name())
		if r.pointed(name) {
			continue
		}
		if s, ok := shown[d.Name()]; !ok {
			err = r.absent(ctx, name, d)
		} else {
			delete(shown, d.Name())
			err = r.present(ctx, name, d, s)
		}
		if err != nil {
			return err
		}
	}
	for name := range shown {
		r.onlyShown(path.Join(dir, name))
	}
	return nil
}

// onlyShown finds names that readers see and nobody wrote. Those of the snapshot are found to be extra at the end.
func (r *run) onlyShown(name string) {
	_, entry := r.tree.Find(name)
	if lo, hi := r.tree.Range(name + "/"); !entry && lo == hi {
		r.findings.add(KindListing, name, "shown to readers, but neither in the snapshot nor in the folder")
	}
}

func (r *run) onDisk(name string) string { return filepath.Join(r.Dir, filepath.FromSlash(name)) }

// list is what a reader sees in a folder, by name; nothing if there is no such folder.
func (r *run) list(dir string) map[string]fs.DirEntry {
	list, err := r.fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.findings.add(KindListing, dir, err.Error())
	}
	shown := make(map[string]fs.DirEntry, len(list))
	for i, d := range list {
		shown[d.Name()] = d
		if i > 0 && list[i-1].Name() >= d.Name() {
			r.findings.add(KindListing, dir, fmt.Sprintf("%q is listed before %q", list[i-1].Name(), d.Name()))
		}
	}
	return shown
}

// present compares one name that both sides list.
func (r *run) present(ctx context.Context, name string, have, shown fs.DirEntry) error {
	i, found := r.tree.Find(name)
	if found {
		r.seen[i] = true
	}
	if have.Type() != shown.Type() {
		r.findings.add(KindType, name, fmt.Sprintf("a %s in the folder, a %s for readers", kindOf(have.Type()), kindOf(shown.Type())))
		return nil
	}
	if have.IsDir() {
		return r.compareFolder(ctx, name)
	}
	if errors.As(r.listing.Explain(name), new(*source.Ignored)) {
		r.extra(name)
	}
	if !found {
		r.findings.add(KindListing, name, "shown to readers, but not in the snapshot")
		return nil
	}
	if have.Type() == fs.ModeSymlink {
		r.report.Links++
		return r.compareLink(i, name)
	}
	r.report.Files++
	r.files = append(r.files, i)
	if r.tree.IsLazy(i) {
		r.lazies = append(r.lazies, i)
	} else {
		r.pages = append(r.pages, i)
	}
	r.compareSizes(name, shown, r.tree.At(i).Size)
	return nil
}

// compareSizes holds the sizes that readers see before they open a file to the tree's, which comparePages holds to the
// file: a page that was changed since is stale, and not listed wrongly too.
func (r *run) compareSizes(name string, shown fs.DirEntry, want int64) {
	info, err := shown.Info()
	r.compareSize(name, "listed", info, err, want)
	info, err = r.fsys.Stat(name)
	r.compareSize(name, "stat answers", info, err, want)
}

func (r *run) compareSize(name, how string, info fs.FileInfo, err error, want int64) {
	if err != nil {
		r.findings.add(KindListing, name, err.Error())
	} else if info.Size() != want {
		r.findings.add(KindSize, name, fmt.Sprintf("%s with %d bytes, in the snapshot it has %d", how, info.Size(), want))
	}
}

func kindOf(mode fs.FileMode) string {
	switch mode {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	case fs.ModeSymlink:
		return "link"
	}
	return "special file"
}

func (r *run) compareLink(i int, name string) error {
	want, err := os.Readlink(r.onDisk(name))
	if err != nil {
		return fmt.Errorf("read the docs folder: %w", err)
	}
	want = filepath.ToSlash(want)
	have, err := r.fsys.ReadLink(name)
	switch {
	case err != nil:
		r.findings.add(KindLink, name, err.Error())
	case have != want:
		r.findings.add(KindLink, name, fmt.Sprintf("leads to %q, in the folder to %q", have, want))
	default:
		r.links = append(r.links, i)
	}
	return nil
}

const notShown = "in the snapshot, but not shown to readers"

// absent wants a reason for a name that only the folder has.
func (r *run) absent(ctx context.Context, name string, d fs.DirEntry) error {
	if i, ok := r.tree.Find(name); ok {
		r.seen[i] = true
		r.findings.add(KindListing, name, notShown)
		return nil
	}
	err := r.explain(name, d)
	switch {
	case err == nil && d.IsDir():
		return r.compareFolder(ctx, name) // it is shown only if something in it is
	case err == nil && d.Type() == fs.ModeSymlink:
		r.absentLinks = append(r.absentLinks, name)
		return nil
	case err == nil:
		r.absentFiles = append(r.absentFiles, name)
	}
	r.missing(name, err)
	return nil
}

// explain says why source leaves out a path by its name or content: an *source.Ignored, another error, or nil if it does
// not leave it out.
func (r *run) explain(name string, d fs.DirEntry) error {
	if d.IsDir() {
		err := r.listing.Explain(name + "/")
		if errors.Is(err, fs.ErrNotExist) {
			return nil // folders are only listed when ignored or invalid
		}
		return err
	}
	err := r.listing.Explain(name)
	if err == nil && d.Type().IsRegular() {
		_, err = r.folder.Read(name)
	}
	return err
}

// missing counts what is ignored for a reason, and finds what is not.
func (r *run) missing(name string, err error) {
	var ignored *source.Ignored
	switch {
	case errors.As(err, &ignored):
		r.report.Ignored[ignored.Reason]++
	case err != nil:
		r.findings.add(KindMissing, name, "in the folder, but not in the snapshot: "+err.Error())
	default:
		r.findings.add(KindMissing, name, "in the folder, but not in the snapshot, and nothing says to ignore it")
	}
}

// explainLinks wants a reason for the links that only the folder has, now that it is known what they may lead to: the
// files that are there, and those that should be.
func (r *run) explainLinks() {
	selected := slices.Clone(r.absentFiles)
	for _, i := range r.files {
		selected = append(selected, r.tree.Path(i))
	}
	slices.Sort(selected)
	_, ignored := r.folder.ResolveLinks(r.listing.Links, selected)
	for _, name := range r.absentLinks {
		if k := slices.IndexFunc(ignored, func(i source.Ignored) bool { return i.Path == name }); k >= 0 {
			r.missing(name, &ignored[k])
		} else {
			r.missing(name, nil)
		}
	}
}
