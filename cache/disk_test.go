package cache_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/cache"
)

func openDisk(t *testing.T, dir string, bound int64) *cache.Disk {
	t.Helper()
	d, err := cache.OpenDisk(dir, bound)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// kept is the keys of the values in a folder, and their bytes together.
func kept(t *testing.T, dir string) (keys []string, size int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.kept"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, strings.TrimSuffix(filepath.Base(f), ".kept"))
		size += info.Size()
	}
	return keys, size
}

// age makes files look hours old.
func age(t *testing.T, hours int, files ...string) {
	t.Helper()
	then := time.Now().Add(-time.Duration(hours) * time.Hour)
	for _, f := range files {
		if err := os.Chtimes(f, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiskRoundTrips(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "cache")
	d := openDisk(t, dir, 1<<20)
	values := map[string][]byte{"empty": {}, "a": []byte("a"), "0-9_.z": bytes.Repeat([]byte{0, 1}, 50_000), strings.Repeat("f", 64): []byte("x")}
	for key, v := range values {
		if _, ok := d.Get(key); ok || d.Has(key) {
			t.Errorf("%q is there already", key)
		}
		d.Put(key, v)
		d.Put(key, v)
	}
	for _, d := range []*cache.Disk{d, openDisk(t, dir, 1<<20)} {
		for key, want := range values {
			if got, ok := d.Get(key); !ok || !bytes.Equal(got, want) || !d.Has(key) {
				t.Errorf("%q is %d bytes, %v", key, len(got), ok)
			}
		}
	}
	for key := range values {
		d.Drop(key)
		d.Drop(key)
		if _, ok := d.Get(key); ok || d.Has(key) {
			t.Errorf("%q is still there", key)
		}
	}
}

func TestDiskModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	openDisk(t, dir, 1<<20).Put("a", []byte("a"))
	for name, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "a.kept"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, error %v, want %v", name, info, err, want)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v, error %v", names, err)
	}
}

// A key never names a file elsewhere, nor one that is no value.
func TestDiskKeys(t *testing.T) {
	dir := t.TempDir()
	d := openDisk(t, filepath.Join(dir, "cache"), 1<<20)
	if err := os.WriteFile(filepath.Join(dir, "up.kept"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", ".", "..", "../up", "/up", `..\up`, "A", "é", "a b", "a\x00", ".hidden", "a/b", strings.Repeat("a", 201)} {
		d.Put(key, []byte("value"))
		if v, ok := d.Get(key); ok || d.Has(key) {
			t.Errorf("%q is %q", key, v)
		}
		d.Drop(key)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "up.kept")); err != nil || string(data) != "secret" {
		t.Errorf("the file beside is %q, error %v", data, err)
	}
	if keys, _ := kept(t, filepath.Join(dir, "cache")); len(keys) != 0 {
		t.Errorf("files for no keys: %q", keys)
	}
}

// What is kept fits the bound after every Put, and what is not used goes first, also as used by a process before.
func TestDiskBound(t *testing.T) {
	const bound = 1 << 20
	dir := t.TempDir()
	d := openDisk(t, dir, bound)
	d.Put("favourite", bytes.Repeat([]byte("f"), 50_000))
	for i := range 60 {
		age(t, 100-i, files(t, dir)...)
		if _, ok := d.Get("favourite"); !ok {
			t.Fatalf("the value used last went at %d", i)
		}
		d.Put(fmt.Sprintf("n%d", i), bytes.Repeat([]byte("n"), i*2000))
		if _, size := kept(t, dir); size > bound {
			t.Fatalf("%d bytes at %d", size, i)
		}
		if i%20 == 19 {
			d = openDisk(t, dir, bound)
		}
	}
	keys, size := kept(t, dir)
	if size < bound/2 || len(keys) > 20 {
		t.Errorf("%d bytes are kept in %d values", size, len(keys))
	}
	if _, ok := d.Get("n59"); !ok {
		t.Error("the newest is not kept")
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	keys, _ := kept(t, dir)
	for _, k := range keys {
		names = append(names, filepath.Join(dir, k+".kept"))
	}
	return names
}

// Small values take whole blocks of the disk.
func TestDiskBoundOfSmallValues(t *testing.T) {
	dir := t.TempDir()
	d := openDisk(t, dir, 1<<20)
	for i := range 1000 {
		d.Put(fmt.Sprintf("n%d", i), []byte("x"))
	}
	if keys, _ := kept(t, dir); len(keys) > 256 || len(keys) < 200 {
		t.Errorf("%d files", len(keys))
	}
}

func TestDiskLargeValues(t *testing.T) {
	const bound = 64 << 10
	dir := t.TempDir()
	d := openDisk(t, dir, bound)
	d.Put("small", []byte("small"))
	d.Put("over", make([]byte, bound+1))
	if keys, _ := kept(t, dir); len(keys) != 1 || keys[0] != "small" {
		t.Errorf("kept: %q", keys)
	}
	d.Put("all", make([]byte, bound))
	if keys, _ := kept(t, dir); len(keys) != 1 || keys[0] != "all" {
		t.Errorf("kept: %q", keys)
	}
	if openDisk(t, dir, bound/2); len(files(t, dir)) != 0 {
		t.Error("a smaller bound keeps what is over it")
	}
}

// Files of others are neither counted nor removed, whatever their age and size; what killed writers left is.
func TestDiskTouchesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes", "readme.md", ".chromafs-tmp-old", ".chromafs-tmp-new", "Upper.kept"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100_000), 0o600); err != nil {
			t.Fatal(err)
		}
		if name != ".chromafs-tmp-new" {
			age(t, 2, filepath.Join(dir, name))
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := openDisk(t, dir, 64<<10)
	d.Put("folder", []byte("a value in the way of a folder"))
	d.Put("a", []byte("a"))
	if _, ok := d.Get("a"); !ok {
		t.Error("the files of others took the room")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".chromafs-tmp-new Upper.kept a.kept folder.kept notes readme.md" {
		t.Errorf("the folder holds: %s", got)
	}
}

// A folder that goes away or turns into something else keeps nothing, and harms nobody.
func TestDiskGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	d := openDisk(t, dir, 64<<10)
	d.Put("a", []byte("a"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		d.Put("b", make([]byte, 10_000))
	}
	for _, key := range []string{"a", "b"} {
		if _, ok := d.Get(key); ok {
			t.Errorf("%s is kept", key)
		}
		d.Drop(key)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var inPath *fs.PathError
	if _, err := cache.OpenDisk(dir, 1); !errors.As(err, &inPath) {
		t.Errorf("a file as the folder: %v", err)
	}
}
