package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/chromafs/chromafs/access"
)

// gzipLevel is the level of everything that is compressed here.
const gzipLevel = 6

// digestPrefix marks the first kind of digest: SHA-256 of the canonical JSON.
const digestPrefix = "s1:"

// The fixed text of the canonical form.
const (
	headOpen    = `{"format":"` + Format + `","version":`
	headReader  = `,"minReader":`
	headColl    = `,"collection":`
	headSite    = `,"site":`
	headRecords = `,"join":"\n","records":`
	headDefault = `,"default":{`
	headBlobs   = `,"blobs":`
	headEnd     = `,"paths":{`
	keyLazy     = `,"lazy":{`
	keyGroups   = `,"groups":[`
	keyExcludes = `,"excludes":[`
	tail        = "}}"
)

// Encode writes t as gzipped canonical JSON. The JSON depends on nothing but t; the compressed bytes are the same for
// the same build of chromafs. It fails with ErrLimit rather than write what DefaultLimits refuse.
func Encode(w io.Writer, t *Tree) error {
	lim := DefaultLimits()
	zw := newGzip(&limitWriter{w, lim.CompressedBytes, overLimit("over %d compressed bytes", lim.CompressedBytes)})
	plain := &limitWriter{zw, lim.UncompressedBytes, overLimit("over %d bytes", lim.UncompressedBytes)}
	if err := t.writeJSON(plain); err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	return nil
}

func newGzip(w io.Writer) *gzip.Writer {
	zw, _ := gzip.NewWriterLevel(w, gzipLevel) // fails only for a level that does not exist
	return zw
}

func (t *Tree) hash() string {
	h := sha256.New()
	_ = t.writeJSON(h) // a hash takes every write
	return digestPrefix + hex.EncodeToString(h.Sum(nil))
}

func (t *Tree) writeJSON(w io.Writer) error {
	const size = 64 << 10
	buf := make([]byte, 0, size+size/4)
	for _, line := range t.lines() {
		if buf = append(buf, line...); len(buf) < size {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	_, err := w.Write(buf)
	return err
}

// lines yields the canonical JSON: the header as line -1, the entries, and the end as line Len(). A line is good until
// the next one.
func (t *Tree) lines() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		buf := append(t.appendHeader(nil), '\n')
		if !yield(-1, buf) {
			return
		}
		for i := range t.n {
			buf = t.appendEntry(buf[:0], i)
			if i+1 < t.n {
				buf = append(buf, ',')
			}
			if !yield(i, append(buf, '\n')) {
				return
			}
		}
		yield(t.n, []byte(tail+"\n"))
	}
}

func (t *Tree) appendHeader(b []byte) []byte {
	b = strconv.AppendInt(append(b, headOpen...), int64(t.version), 10)
	b = strconv.AppendInt(append(b, headReader...), int64(t.minReader()), 10)
	b = appendQuoted(append(b, headColl...), t.header.Collection)
	b = appendQuoted(append(b, headSite...), t.header.Site)
	b = appendQuoted(append(b, headRecords...), t.header.Records)
	b = appendAccess(append(b, headDefault...), t.header.Default)
	b = append(b, '}')
	if len(t.lazies) > 0 {
		b = appendQuoted(append(b, headBlobs...), t.header.Blobs)
	}
	return append(b, headEnd...)
}

// minReader is the lowest version that can express the tree.
func (t *Tree) minReader() int {
	if len(t.lazies) > 0 {
		return lazyVersion
	}
	return plainVersion
}

func (t *Tree) appendEntry(b []byte, i int) []byte {
	r := t.row(i)
	b = appendQuoted(b, t.Path(i))
	b = append(append(b, ":{"...), t.classes[r.class].text...)
	if r.chunks == 0 {
		b = appendQuoted(append(b, `,"link":`...), t.links[r.size])
	} else {
		b = strconv.AppendInt(append(b, `,"size":`...), r.size, 10)
		b = hex.AppendEncode(append(b, `,"sha256":"`...), r.sum[:])
		if b = append(b, '"'); r.chunks < 0 {
			b = appendLazy(append(b, keyLazy...), &t.lazies[^r.chunks])
		} else {
			b = strconv.AppendInt(append(b, `,"chunks":`...), int64(r.chunks), 10)
		}
	}
	if r.mtime != 0 {
		b = strconv.AppendInt(append(b, `,"mtime":`...), r.mtime, 10)
	}
	return append(b, '}')
}

// appendLazy writes the keys that are not empty, and the closing brace.
func appendLazy(b []byte, l *Lazy) []byte {
	sep := ""
	key := func(name string) {
		b = append(append(append(append(b, sep...), '"'), name...), `":`...)
		sep = ","
	}
	if l.Blocks != [32]byte{} {
		key("blocks")
		b = append(hex.AppendEncode(append(b, '"'), l.Blocks[:]), '"')
	}
	for _, k := range [...]struct{ name, value string }{{"uri", l.URI}, {"etag", l.ETag}, {"versionId", l.Version}} {
		if k.value != "" {
			key(k.name)
			b = appendQuoted(b, k.value)
		}
	}
	return append(b, '}')
}

func appendAccess(b []byte, a access.Access) []byte {
	b = strconv.AppendBool(append(b, `"isPublic":`...), a.Public)
	b = appendNames(append(b, keyGroups...), a.Groups)
	if len(a.Excludes) > 0 {
		b = appendNames(append(b, keyExcludes...), a.Excludes)
	}
	return b
}

func appendNames(b []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, name)
	}
	return append(b, ']')
}
