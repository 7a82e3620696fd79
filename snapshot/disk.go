package snapshot

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// tempPrefix begins the names of temporary files, and of nothing else in the folder: those files are removed.
const tempPrefix = ".chromafs-tmp-"

func (f *Folder) before(op string) error {
	if f.step == nil {
		return nil
	}
	return f.step(op)
}

// prepare makes the folder, and removes what a killed run left in it.
func (f *Folder) prepare() error {
	if err := f.before("mkdir"); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir(), 0o755); err != nil {
		return err
	}
	names, err := os.ReadDir(f.dir())
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasPrefix(n.Name(), tempPrefix) && n.Type().IsRegular() {
			if err := f.remove(n.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile replaces name by what write writes, whole or not at all.
func (f *Folder) writeFile(name string, write func(io.Writer) error) (err error) {
	if err := f.before("create " + name); err != nil {
		return err
	}
	temp, err := os.CreateTemp(f.dir(), tempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if left := f.remove(filepath.Base(temp.Name())); left != nil {
				err = fmt.Errorf("%w (and %w)", err, left)
			}
		}
	}()
	if err := cmp.Or(f.fill(temp, name, write), temp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.before("rename " + name); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), filepath.Join(f.dir(), name)); err != nil {
		return err
	}
	return f.syncDir(name)
}

func (f *Folder) fill(temp *os.File, name string, write func(io.Writer) error) error {
	if err := f.before("write " + name); err != nil {
		return err
	}
	w := bufio.NewWriterSize(temp, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := f.before("sync " + name); err != nil {
		return err
	}
	return temp.Sync()
}

// syncDir makes the rename of name last. Windows has no such call.
func (f *Folder) syncDir(name string) error {
	if err := f.before("sync folder of " + name); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(f.dir())
	if err != nil {
		return err
	}
	return cmp.Or(d.Sync(), d.Close())
}

// remove removes a file that may be gone already.
func (f *Folder) remove(name string) error {
	if err := f.before("remove " + name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(f.dir(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// contextReader and contextWriter fail once their context is done. They live for one call.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
