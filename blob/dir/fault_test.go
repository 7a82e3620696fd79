package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
)

// files is the path of each file below a folder, and what it holds.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, name))
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Whatever the disk fails at, it is named, and the object is the old one or the new one and nothing is beside it.
func TestDiskFails(t *testing.T) {
	for _, old := range []string{"", "old"} {
		for n := 0; ; n++ {
			folder := t.TempDir()
			f := New(folder)
			if old != "" {
				if err := f.Put(t.Context(), "a/b/c", blobtest.ContentOf([]byte(old)), false); err != nil {
					t.Fatal(err)
				}
			}
			steps, failed := 0, ""
			f.step = func(op string) error {
				if steps++; steps == n+1 {
					failed = op
					return &fs.PathError{Op: op, Path: "x", Err: syscall.ENOSPC}
				}
				return nil
			}
			err := f.Put(t.Context(), "a/b/c", blobtest.ContentOf([]byte("new")), old != "")
			if failed == "" {
				if err != nil || n < 5 {
					t.Errorf("%d steps, error %v", n, err)
				}
				break
			}
			named := (*blob.Error)(nil)
			if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &named) || named.URI != f.URI("a/b/c") || !strings.Contains(err.Error(), failed) {
				t.Errorf("%s: error %v", failed, err)
			}
			got := files(t, folder)
			content, there := got["a/b/c"]
			delete(got, "a/b/c")
			if there != (old != "") && content != "new" || there && content != old && content != "new" {
				t.Errorf("%s: the object is %q", failed, content)
			}
			if failed == "remove" && len(got) == 1 {
				continue
			}
			if len(got) > 0 {
				t.Errorf("%s leaves %q", failed, got)
			}
		}
	}
}

// The order of what is done to the disk: an object is synced before it has its name, and each folder after it is made.
func TestSteps(t *testing.T) {
	f := New(filepath.Join(t.TempDir(), "blobs"))
	var steps []string
	f.step = func(op string) error { steps = append(steps, op); return nil }
	for _, c := range []struct {
		key     string
		replace bool
		want    string
	}{
		{"a/b", false, "make folder, make folder in ., sync folder, create, sync, place, remove, sync folder"},
		{"a/b", false, ""},
		{"a/b", true, "make folder, create, sync, place, sync folder"},
		{"a/c", false, "make folder, create, sync, place, remove, sync folder"},
	} {
		steps = nil
		if err := f.Put(t.Context(), c.key, blobtest.ContentOf([]byte(c.want)), c.replace); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(steps, ", "); got != c.want {
			t.Errorf("put %s, replace %v: %s", c.key, c.replace, got)
		}
	}
}

// A writer that comes too late keeps what another put meanwhile, unless it replaces.
func TestPlaceTakenMeanwhile(t *testing.T) {
	for replace, want := range map[bool]string{false: "first", true: "late"} {
		folder := t.TempDir()
		f := New(folder)
		f.step = func(op string) error {
			if op == "place" {
				return os.WriteFile(filepath.Join(folder, "a"), []byte("first"), 0o600)
			}
			return nil
		}
		if err := f.Put(t.Context(), "a", blobtest.ContentOf([]byte("late")), replace); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(files(t, folder)); got != "map[a:"+want+"]" {
			t.Errorf("replace %v: %s", replace, got)
		}
	}
}

func TestTemporaryNamesAreNoKeys(t *testing.T) {
	f := New(t.TempDir())
	for _, key := range []string{tempPrefix, tempPrefix + "a", "a/" + tempPrefix} {
		if err := f.Put(t.Context(), key, blobtest.ContentOf(nil), true); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: error %v", key, err)
		}
	}
}
