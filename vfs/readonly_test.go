package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestWritesAreRefused(t *testing.T) {
	fsys := open(t, anonymous, site()...)
	flags := func(flag int) func(string) error {
		return func(p string) error { _, err := fsys.OpenFile(p, flag, 0o666); return err }
	}
	writes := map[string]func(string) error{
		"create":       func(p string) error { _, err := fsys.Create(p); return err },
		"write file":   func(p string) error { return fsys.WriteFile(p, []byte("x"), 0o666) },
		"mkdir":        func(p string) error { return fsys.Mkdir(p, 0o777) },
		"mkdir all":    func(p string) error { return fsys.MkdirAll(p, 0o777) },
		"remove":       fsys.Remove,
		"remove all":   fsys.RemoveAll,
		"rename":       func(p string) error { return fsys.Rename(p, "new") },
		"rename to":    func(p string) error { return fsys.Rename("README.md", p) },
		"symlink":      func(p string) error { return fsys.Symlink("README.md", p) },
		"link":         func(p string) error { return fsys.Link("README.md", p) },
		"chmod":        func(p string) error { return fsys.Chmod(p, 0o777) },
		"chown":        func(p string) error { return fsys.Chown(p, 1, 1) },
		"chtimes":      func(p string) error { return fsys.Chtimes(p, time.Time{}, time.Time{}) },
		"truncate":     func(p string) error { return fsys.Truncate(p, 0) },
		"write only":   flags(os.O_WRONLY),
		"read write":   flags(os.O_RDWR),
		"create flag":  flags(os.O_CREATE),
		"append flag":  flags(os.O_APPEND),
		"trunc flag":   flags(os.O_TRUNC),
		"exclusive":    flags(os.O_EXCL),
		"usual create": flags(os.O_RDWR | os.O_CREATE | os.O_TRUNC),
	}
	for name, write := range writes {
		for _, p := range []string{"README.md", "a", "en", "new.md", "secret/one.md", ".", "../out", ""} {
			err := write(p)
			var pathError *fs.PathError
			if !errors.Is(err, syscall.EROFS) || !errors.As(err, &pathError) {
				t.Errorf("%s %q: %v", name, p, err)
			}
		}
	}
}

func TestOpenFileReads(t *testing.T) {
	fsys := open(t, anonymous, site()...)
	f, err := fsys.OpenFile("a/x.md", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if body, err := io.ReadAll(f); string(body) != "x\r\ny\r\n" || err != nil {
		t.Fatalf("%q, %v", body, err)
	}
	if _, err := fsys.OpenFile("secret/one.md", os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
