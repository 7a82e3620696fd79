package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

func TestWritesAreRefused(t *testing.T) {
	fsys := open(t, anonymous, site()...)
	for name, write := range writes {
		for _, p := range []string{"README.md", "a", "en", "new.md", "secret/one.md", "secret", "to-secret", ".", "../out", ""} {
			err := write(fsys, p)
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
