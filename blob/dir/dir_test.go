package dir_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/dir"
)

func TestStore(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return dir.New(filepath.Join(t.TempDir(), "blobs")) })
}

func content(text string) blob.Content {
	return blobtest.ContentOf([]byte(text))
}

// A reader makes nothing.
func TestReadingMakesNoFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "blobs")
	if _, err := dir.New(folder).Stat(t.Context(), "a", blob.Pin{}); !errors.Is(err, blob.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}

// What killed writers left is removed once it is old, and nothing else.
func TestLeftovers(t *testing.T) {
	folder := t.TempDir()
	old := time.Now().Add(-25 * time.Hour)
	for name, age := range map[string]time.Time{".chromafs-tmp-old": old, ".chromafs-tmp-new": time.Now(), "other": old} {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.New(folder).Put(t.Context(), "a", content("text"), false); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".chromafs-tmp-new a other" {
		t.Errorf("left: %s", got)
	}
}

// Neither a link nor what is no file is an object, wherever a link leads.
func TestLinksLeadNowhere(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "out")); err != nil {
		t.Skip("no links here")
	}
	if err := os.Mkdir(filepath.Join(folder, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := dir.New(folder)
	for _, key := range []string{"out/secret", "folder"} {
		if r, err := s.Open(t.Context(), key, blob.Pin{}, 0, -1); err == nil {
			t.Errorf("%s can be read", key)
			r.Close()
		}
	}
	if err := s.Put(t.Context(), "out/new", content("text"), true); err == nil {
		t.Error("a link was followed to write")
	}
	if _, err := os.Stat(filepath.Join(outside, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("outside: %v", err)
	}
}

func TestPermission(t *testing.T) {
	folder := t.TempDir()
	s := dir.New(folder)
	if err := s.Put(t.Context(), "a", content("text"), false); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "a"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(folder, "a")); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	if _, err := s.Open(t.Context(), "a", blob.Pin{}, 0, -1); !errors.Is(err, blob.ErrDenied) || !strings.Contains(err.Error(), filepath.Join(folder, "a")) {
		t.Errorf("got %v", err)
	}
}

// A write that breaks off anywhere leaves what was there.
func TestBrokenWrite(t *testing.T) {
	folder := t.TempDir()
	s := dir.New(folder)
	if err := s.Put(t.Context(), "a", content("old"), false); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	text := []byte("some new text")
	for n := range len(text) {
		c := blob.Content{Size: int64(len(text)), SHA256: sha256.Sum256(text), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(text[:n]), failing{broken})), nil
		}}
		if err := s.Put(context.Background(), "a", c, true); !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "a")); err != nil || string(got) != "old" {
		t.Errorf("a is %q, %v", got, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
