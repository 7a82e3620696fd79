package snapshot

import (
	"bytes"
	"fmt"

	"github.com/chromafs/chromafs/access"
)

// cursor takes canonical JSON apart. After the first thing that is not as wanted it takes nothing more, and keeps that
// as its error.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) fail(want string) {
	if c.err == nil {
		c.err = malformed("want %s at %.20q", want, c.rest)
	}
	c.rest = nil
}

// has takes text if it comes next.
func (c *cursor) has(text string) bool {
	if len(c.rest) < len(text) || string(c.rest[:len(text)]) != text {
		return false
	}
	c.rest = c.rest[len(text):]
	return true
}

func (c *cursor) want(text string) {
	if !c.has(text) {
		c.fail(text)
	}
}

// string takes a string, which is valid UTF-8 and may alias the input.
func (c *cursor) string() []byte {
	s, n := unquote(c.rest)
	if n == 0 {
		c.fail("a string")
		return nil
	}
	c.rest = c.rest[n:]
	return s
}

func (c *cursor) bool() bool {
	if c.has("true") {
		return true
	}
	if !c.has("false") {
		c.fail("true or false")
	}
	return false
}

// number takes a whole number from 0 to most, which is at most MaxSize.
func (c *cursor) number(most int64) int64 {
	var v int64
	i := 0
	for ; i < len(c.rest) && c.rest[i] >= '0' && c.rest[i] <= '9' && v <= most; i++ {
		v = v*10 + int64(c.rest[i]-'0')
	}
	if i == 0 || i > 1 && c.rest[0] == '0' || v > most {
		c.fail(fmt.Sprintf("a whole number up to %d", most))
		return 0
	}
	c.rest = c.rest[i:]
	return v
}

func (c *cursor) sum() (sum [32]byte) {
	const digits = 2 * len(sum)
	if len(c.rest) < digits {
		c.fail("64 hex digits")
		return sum
	}
	hex := c.rest[:digits]
	var bad byte
	for i := range sum {
		hi, lo := unhex[hex[2*i]], unhex[hex[2*i+1]]
		bad |= hi | lo
		sum[i] = hi<<4 | lo
	}
	if bad > 15 {
		c.fail("64 hex digits in lower case")
		return sum
	}
	c.rest = c.rest[digits:]
	return sum
}

func (c *cursor) access() access.Access {
	c.want(`"isPublic":`)
	a := access.Access{Public: c.bool()}
	c.want(keyGroups)
	a.Groups = c.names()
	if c.has(keyExcludes) {
		if a.Excludes = c.names(); len(a.Excludes) == 0 {
			c.fail("excludes that are not empty")
		}
	}
	return a
}

// names takes the rest of an array of strings.
func (c *cursor) names() (list []string) {
	for !c.has("]") && c.err == nil {
		if len(list) > 0 {
			c.want(",")
		}
		list = append(list, string(c.string()))
	}
	return list
}

// hasAccess takes text, the whole of an access, if it comes next. Groups alone begin the same groups with excludes.
func (c *cursor) hasAccess(text string) bool {
	before := c.rest
	if !c.has(text) {
		return false
	}
	if bytes.HasPrefix(c.rest, []byte(keyExcludes)) {
		c.rest = before
		return false
	}
	return true
}

func (c *cursor) end() error {
	if c.err == nil && len(c.rest) > 0 {
		c.fail("the end of the line")
	}
	return c.err
}

// checkVersion looks at no more than what every version has in front.
func checkVersion(head []byte) error {
	c := cursor{rest: head}
	version, reader := c.versions()
	if c.err == nil && reader > Version {
		return fmt.Errorf("%w: format version %d can be read from version %d on, this is %d", ErrVersion, version, reader, Version)
	}
	return nil
}

func (c *cursor) versions() (version, reader int64) {
	c.want(headOpen)
	version = c.number(MaxSize)
	c.want(headReader)
	return version, c.number(MaxSize)
}

func parseHeader(line []byte) (h Header, version, minReader int, err error) {
	c := cursor{rest: line}
	v, reader := c.versions()
	if c.err == nil && (reader < plainVersion || v < reader) {
		return h, 0, 0, malformed("version %d with minReader %d", v, reader)
	}
	c.want(headColl)
	h.Collection = string(c.string())
	c.want(headSite)
	h.Site = string(c.string())
	c.want(headRecords)
	h.Records = string(c.string())
	c.want(headDefault)
	h.Default = c.access()
	c.want("}")
	if reader >= lazyVersion {
		c.want(headBlobs)
		h.Blobs = string(c.string())
	}
	c.want(headEnd)
	if err := c.end(); err != nil {
		return h, 0, 0, err
	}
	return h, int(v), int(reader), h.validate()
}

// parseEntry takes what follows the path, and adds the entry.
func (b *builder) parseEntry(c *cursor, path []byte) (err error) {
	c.want(":{")
	var r row
	if r.class, err = b.parseClass(c); err != nil {
		return err
	}
	if c.has(`,"link":`) {
		target := string(c.string())
		r.mtime = c.mtime()
		if err := c.end(); err != nil {
			return err
		}
		return b.addLink(path, r, target)
	}
	c.want(`,"size":`)
	r.size = c.number(MaxSize)
	c.want(`,"sha256":"`)
	r.sum = c.sum()
	c.want(`"`)
	var lazy *Lazy
	if c.has(keyLazy) {
		lazy = c.lazy()
	} else {
		c.want(`,"chunks":`)
		if r.chunks = int32(c.number(MaxChunks)); r.chunks == 0 {
			c.fail("chunks above 0")
		}
	}
	r.mtime = c.mtime()
	if err := c.end(); err != nil {
		return err
	}
	if lazy != nil {
		return b.addLazy(path, r, *lazy)
	}
	return b.addFile(path, r)
}

// lazy takes the rest of a pointer.
func (c *cursor) lazy() *Lazy {
	var l Lazy
	sep := ""
	has := func(key string) bool {
		found := c.has(sep + `"` + key + `":`)
		if found {
			sep = ","
		}
		return found
	}
	if has("blocks") {
		c.want(`"`)
		l.Blocks = c.sum()
		c.want(`"`)
	}
	for _, k := range [...]struct {
		name  string
		value *string
	}{{"uri", &l.URI}, {"etag", &l.ETag}, {"versionId", &l.Version}} {
		if !has(k.name) {
			continue
		}
		if *k.value = string(c.string()); *k.value == "" {
			c.fail("a " + k.name + " that is not empty")
		}
	}
	c.want("}")
	return &l
}

// mtime takes the last key, which may be absent, and the end of the entry.
func (c *cursor) mtime() (v int64) {
	if c.has(`,"mtime":`) {
		if v = c.number(MaxMTime); v == 0 {
			c.fail("an mtime above 0")
		}
	}
	c.want("}")
	return v
}

// parseClass takes an access. Most entries have that of one shortly before, which one comparison finds.
func (b *builder) parseClass(c *cursor) (int32, error) {
	for i := range b.recent {
		if id := b.recent[i]; int(id) < len(b.t.classes) && c.hasAccess(b.t.classes[id].text) {
			b.recent[0], b.recent[i] = id, b.recent[0]
			return id, nil
		}
	}
	a := c.access()
	if c.err != nil {
		return 0, c.err
	}
	id, err := b.class(a)
	if err != nil {
		return 0, err
	}
	copy(b.recent[1:], b.recent[:])
	b.recent[0] = id
	return id, nil
}
