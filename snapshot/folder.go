package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	currentName   = "current.json"
	currentFormat = "chromafs.current"
	// currentVersion is that of the pointer, whose form does not depend on what the tree holds.
	currentVersion = 1
	fileSuffix     = ".path-tree.json.gz"
	sitesName      = "sites"
)

// Folder publishes to a folder: one file for each snapshot, named by its digest, and a pointer that is replaced last.
// FORMAT.md has the layout. Its methods are safe for concurrent use as Location says.
//
// Publish writes the snapshot file, then replaces the pointer, each by a synced temporary file that is renamed; killed
// before the second rename the old snapshot is published, after it the new one. Retired removes the file, then replaces
// the pointer; killed in between, the pointer names a retiring file that is gone, and Retired is to be called again.
// Temporary files of a killed run are removed by the next Publish.
type Folder struct {
	Dir    string
	Site   string
	Limits Limits

	// step, if any, is asked before every change of the disk; an error of it stands for that of the disk. For tests.
	step func(op string) error
}

var _ Location = (*Folder)(nil)

// current is the pointer file, in canonical order.
type current struct {
	Format      string   `json:"format"`
	Version     int      `json:"version"`
	MinReader   int      `json:"minReader"`
	Digest      string   `json:"digest"`
	File        string   `json:"file"`
	PublishedAt string   `json:"publishedAt"`
	Retiring    []string `json:"retiring"`
}

// Load opens the published snapshot.
func (f *Folder) Load(ctx context.Context) (*Published, error) {
	return load(f.pointer, func(digest string) (*Tree, error) { return f.Open(ctx, digest) })
}

// Open opens a snapshot by its digest.
func (f *Folder) Open(ctx context.Context, digest string) (*Tree, error) {
	name, err := fileName(digest)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(f.dir(), name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open snapshot: %w: %w", ErrMissing, err)
	case err != nil:
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	defer file.Close()
	t, err := Decode(contextReader{ctx, file}, f.Limits)
	if err == nil {
		err = checkTree(t, digest, f.Site)
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshot %s: %w", file.Name(), err)
	}
	return t, nil
}

// Publish writes t and moves the pointer to it.
func (f *Folder) Publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := f.publish(ctx, t, at); err != nil {
		return fmt.Errorf("publish snapshot to %s: %w", f.dir(), err)
	}
	return nil
}

func (f *Folder) publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := checkPublish(t, f.Site, at); err != nil {
		return err
	}
	old, readErr := f.pointer()
	old, err := old.readable(readErr)
	if err != nil {
		return err
	}
	if old.digest == t.Digest() {
		if _, err := f.Open(ctx, old.digest); err == nil {
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.prepare(); err != nil {
		return err
	}
	name, err := fileName(t.Digest())
	if err != nil {
		return err
	}
	if err := f.writeFile(name, func(w io.Writer) error { return Encode(contextWriter{ctx, w}, t) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || old.digest == t.Digest() {
		return err
	}
	return f.point(old.next(t.Digest(), at))
}

// Retiring lists what the pointer keeps.
func (f *Folder) Retiring(context.Context) ([]string, error) {
	p, err := f.pointer()
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	return p.retiring, err
}

// Retired removes a retiring snapshot.
func (f *Folder) Retired(ctx context.Context, digest string) error {
	p, err := f.pointer()
	if err != nil {
		return err
	}
	rest, err := p.retire(digest)
	if err != nil || rest == nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := fileName(digest)
	if err != nil {
		return err
	}
	if err := f.remove(name); err != nil {
		return fmt.Errorf("retire snapshot: %w", err)
	}
	return f.point(*rest)
}

// dir is the folder of the site.
func (f *Folder) dir() string {
	if f.Site == "" {
		return f.Dir
	}
	return filepath.Join(f.Dir, sitesName, f.Site)
}

func fileName(digest string) (string, error) {
	hex, ok := digestHex(digest)
	if !ok {
		return "", malformed("%q is no snapshot digest", digest)
	}
	return hex + fileSuffix, nil
}

func (f *Folder) point(p pointer) error {
	name, err := fileName(p.digest)
	if err != nil {
		return err
	}
	data, err := p.json(name, currentVersion)
	if err != nil {
		return err
	}
	return f.writeFile(currentName, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func (f *Folder) pointer() (pointer, error) {
	if err := ValidateSite(f.Site); err != nil {
		return pointer{}, err
	}
	name := filepath.Join(f.dir(), currentName)
	file, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pointer{}, fmt.Errorf("read %s: %w", name, ErrNone)
	case err != nil:
		return pointer{}, fmt.Errorf("read pointer: %w", err)
	}
	defer file.Close()
	const most = 1 << 20
	data, err := io.ReadAll(&limitReader{file, most, malformed("over %d bytes", most)})
	if err != nil {
		return pointer{}, fmt.Errorf("read %s: %w", name, err)
	}
	p, err := parseCurrent(data)
	if err != nil {
		return pointer{}, fmt.Errorf("read %s: %w", name, err)
	}
	return p, nil
}

// parseCurrent accepts only what point writes.
func parseCurrent(data []byte) (pointer, error) {
	var c current
	if err := json.Unmarshal(data, &c); err != nil {
		return pointer{}, malformed("%w", err)
	}
	if c.Format == currentFormat && c.MinReader > currentVersion {
		return pointer{}, fmt.Errorf("%w: pointer of version %d", ErrVersion, c.Version)
	}
	name, err := fileName(c.Digest)
	if err != nil {
		return pointer{}, err
	}
	for _, d := range c.Retiring {
		if _, ok := digestHex(d); !ok {
			return pointer{}, malformed("%q is no snapshot digest", d)
		}
	}
	at, err := time.Parse(time.RFC3339, c.PublishedAt)
	if err != nil {
		return pointer{}, malformed("publishedAt: %w", err)
	}
	p := pointer{c.Digest, at.UTC(), c.Retiring}
	if canonical, err := p.json(name, max(c.Version, currentVersion)); err != nil || !bytes.Equal(canonical, data) || slices.Contains(c.Retiring, c.Digest) {
		return pointer{}, malformed("not a pointer in canonical form")
	}
	return p, nil
}

func (p pointer) json(name string, version int) ([]byte, error) {
	data, err := json.Marshal(current{
		Format: currentFormat, Version: version, MinReader: currentVersion,
		Digest: p.digest, File: name, PublishedAt: p.at.Format(time.RFC3339), Retiring: append([]string{}, p.retiring...),
	})
	return append(data, '\n'), err
}
