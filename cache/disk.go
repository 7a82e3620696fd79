package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// tempPrefix begins the names of values that are being written.
	tempPrefix = ".tmp-"
	// tempAge is after how long nobody can still be writing one.
	tempAge = time.Hour
	// touchAge is how old a value's time may be when it is used: less writes less to disk, and is exact enough.
	touchAge = time.Minute
	// rescan is how many bytes, as a part of the bound, are written before the folder is looked at again, for what other
	// processes wrote.
	rescan = 16
)

// Disk is a folder of values, one file each, that survives restarts and that several processes may share. It holds about
// its bound at most; those used longest ago go first. Only its owner may read it. It is safe for concurrent use.
//
// A value that can't be read or written is one that is not kept: no method fails. A file is written under another name
// and then renamed, so a value is there whole or not at all, but for what happens to a disk: callers check what they get.
type Disk struct {
	dir string
	max int64
	now func() time.Time

	mu    sync.Mutex
	used  int64 // by the files found last, and those written since
	fresh int64 // written since
}

// OpenDisk makes the folder if it is not there. The bound is in bytes.
func OpenDisk(dir string, maxBytes int64) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	d := &Disk{dir: dir, max: maxBytes, now: time.Now}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	return d, nil
}

// Get returns the value of a key, if it is still kept. The caller may change it.
func (d *Disk) Get(key string) (value []byte, ok bool) {
	if !isKey(key) {
		return nil, false
	}
	name := d.file(key)
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > d.max {
		return nil, false
	}
	value = make([]byte, info.Size())
	if n, err := f.ReadAt(value, 0); n < len(value) {
		_ = err // a shorter file is one that is not kept
		return nil, false
	}
	if now := d.now(); now.Sub(info.ModTime()) > touchAge {
		_ = os.Chtimes(name, now, now) // else it goes earlier than it should
	}
	return value, true
}

// Put keeps a value, unless it is larger than the bound by itself.
func (d *Disk) Put(key string, value []byte) {
	size := int64(len(value))
	if !isKey(key) || size > d.max {
		return
	}
	d.mu.Lock()
	if d.used += size; d.used > d.max || d.fresh > d.max/rescan {
		d.sweep()
		d.used += size
	}
	d.fresh += size
	d.mu.Unlock()
	_ = d.write(key, value) // what can't be written is not kept
}

// Drop forgets a value, such as one that turned out to be damaged.
func (d *Disk) Drop(key string) {
	if isKey(key) {
		_ = os.Remove(d.file(key)) // another process may have done so
	}
}

func (d *Disk) file(key string) string { return filepath.Join(d.dir, key) }

// isKey reports whether a key is a name of lower-case letters, digits, ".", "_" and "-" that does not begin with a dot.
func isKey(key string) bool {
	for _, c := range []byte(key) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte("._-", c) < 0 {
			return false
		}
	}
	return key != "" && len(key) <= 200 && key[0] != '.'
}

func (d *Disk) write(key string, value []byte) (err error) {
	f, err := os.CreateTemp(d.dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(value)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.file(key))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// sweep finds out what the folder holds, and removes what was used longest ago until there is room for a part of the bound.
// It is called with mu held.
func (d *Disk) sweep() {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	d.used, d.fresh = 0, 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case isKey(e.Name()):
			files = append(files, info)
			d.used += info.Size()
		case strings.HasPrefix(e.Name(), tempPrefix) && d.now().Sub(info.ModTime()) > tempAge:
			_ = os.Remove(d.file(e.Name())) // the writer was killed
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, f := range files {
		if d.used <= d.max-d.max/rescan {
			return
		}
		_ = os.Remove(d.file(f.Name())) // another process may have done so
		d.used -= f.Size()
	}
}
