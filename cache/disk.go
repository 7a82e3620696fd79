package cache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// suffix ends the names of values, so that no other file of the folder is ever taken for one and removed.
	suffix = ".kept"
	// tempPrefix begins the names of values that are being written.
	tempPrefix = ".chromafs-tmp-"
	// tempAge is after how long nobody can still be writing one.
	tempAge = time.Hour
	// part of the bound may be written before the folder is looked at again, for what other processes wrote; as much is
	// freed at a time.
	part = 16
	// touchEvery is how many values are read before one of them is marked as used again: the order of use is coarse.
	touchEvery = 1000
	// fileBytes is what a file takes of a disk at least, and a multiple of which it takes.
	fileBytes = 4096
)

// Disk is a folder of values, one file each, that survives restarts and that several processes may share. It holds at most
// its bound, and a sixteenth more for each further process that writes; those used longest ago go first. Only its owner may
// read them. It is safe for concurrent use.
//
// A value that can't be read or written is one that is not kept: no method fails. A file is written under another name
// and then renamed, so a value is there whole or not at all, but for what happens to a disk: callers check what they get.
type Disk struct {
	dir string
	max int64

	mu    sync.Mutex
	used  int64     // by the files found last, and those written since
	fresh int64     // written since
	reads int       // since mark
	mark  time.Time // values older than that are marked as used when they are
}

// OpenDisk makes the folder if it is not there. The bound is in bytes.
func OpenDisk(dir string, maxBytes int64) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	d := &Disk{dir: dir, max: maxBytes}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep(0)
	return d, nil
}

// Get returns the value of a key, if it is still kept. The caller may change it.
func (d *Disk) Get(key string) (value []byte, ok bool) {
	if !isKey(key) {
		return nil, false
	}
	name := d.file(key)
	info, err := os.Lstat(name) // before the file is opened, as a pipe would never be
	if err != nil || !info.Mode().IsRegular() || info.Size() > d.max {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	value = make([]byte, info.Size())
	if _, err := io.ReadFull(f, value); err != nil {
		return nil, false
	}
	d.touch(name, info.ModTime())
	return value, true
}

// Has reports whether Get would find a file. It does not count as a use.
func (d *Disk) Has(key string) bool {
	if !isKey(key) {
		return false
	}
	info, err := os.Lstat(d.file(key))
	return err == nil && info.Mode().IsRegular()
}

// Put keeps a value, unless it is larger than the bound by itself.
func (d *Disk) Put(key string, value []byte) {
	size := footprint(int64(len(value)))
	if !isKey(key) || size > d.max {
		return
	}
	d.mu.Lock()
	if d.used+size > d.max || d.fresh+size > d.max/part {
		d.sweep(size)
	}
	d.used += size
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

func (d *Disk) file(key string) string { return filepath.Join(d.dir, key+suffix) }

// isKey reports whether a key is a name of lower-case letters, digits, ".", "_" and "-" that does not begin with a dot.
func isKey(key string) bool {
	for _, c := range []byte(key) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte("._-", c) < 0 {
			return false
		}
	}
	return key != "" && len(key) <= 200 && key[0] != '.'
}

// footprint is what a file of size bytes takes of the bound.
func footprint(size int64) int64 {
	return max(1, (size+fileBytes-1)/fileBytes) * fileBytes
}

func (d *Disk) write(key string, value []byte) error {
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

// now is the time by the clock of the file system, which the times of the values are of.
func (d *Disk) now() (now time.Time, ok bool) {
	f, err := os.CreateTemp(d.dir, tempPrefix+"*")
	if err != nil {
		return now, false
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return now, false
	}
	return info.ModTime(), true
}

// touch marks a value as used, unless it was written or used not long ago. Where that fails it goes earlier than it should.
func (d *Disk) touch(name string, used time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reads++; d.reads < touchEvery && !used.Before(d.mark) {
		return
	}
	now, ok := d.now()
	if !ok {
		return
	}
	if d.reads >= touchEvery {
		d.reads, d.mark = 0, now
	}
	_ = os.Chtimes(name, now, now)
}

// value is a file of the folder.
type value struct {
	name string
	size int64
	used time.Time
}

// sweep finds out what the folder holds, and removes what was used longest ago until there is room for a part of the bound
// and for room bytes, and what killed writers left. It is called with mu held.
func (d *Disk) sweep(room int64) {
	now, ok := d.now()
	if !ok {
		return
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	d.mark, d.used, d.fresh = now, 0, 0
	var values []value
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		key, ours := strings.CutSuffix(e.Name(), suffix)
		switch {
		case ours && isKey(key):
			values = append(values, value{e.Name(), footprint(info.Size()), info.ModTime()})
			d.used += footprint(info.Size())
		case strings.HasPrefix(e.Name(), tempPrefix) && now.Sub(info.ModTime()) > tempAge:
			_ = os.Remove(filepath.Join(d.dir, e.Name()))
		}
	}
	if d.used+room > d.max {
		d.evict(values, min(d.max-d.max/part, d.max-room))
	}
}

// evict removes values until at most limit bytes are used. One that can't be removed now, as somebody reads it, stays.
func (d *Disk) evict(values []value, limit int64) {
	slices.SortFunc(values, func(a, b value) int { return a.used.Compare(b.used) })
	for _, v := range values {
		if d.used <= limit {
			return
		}
		if err := os.Remove(filepath.Join(d.dir, v.name)); err == nil || errors.Is(err, os.ErrNotExist) {
			d.used -= v.size
		}
	}
}
