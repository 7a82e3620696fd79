package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// Decode reads one gzip member that holds one tree in canonical form, and nothing after it. It holds no more of the
// input than a few blocks, and gives up as soon as a limit is passed. Its errors wrap ErrVersion, ErrLimit, ErrMalformed
// or whatever r failed with.
func Decode(r io.Reader, lim Limits) (*Tree, error) {
	lim = lim.orDefault()
	br := bufio.NewReaderSize(&limitReader{r, lim.CompressedBytes, overLimit("over %d compressed bytes", lim.CompressedBytes)}, 64<<10)
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, fmt.Errorf("decode snapshot: %w", gzipError(err))
	}
	zr.Multistream(false)
	return decodeJSON(&member{zr: zr, br: br}, lim)
}

// member is one gzip member, after which nothing may follow.
type member struct {
	zr *gzip.Reader
	br *bufio.Reader
}

func (m *member) Read(p []byte) (int, error) {
	n, err := m.zr.Read(p)
	if err != io.EOF {
		return n, gzipError(err)
	}
	switch _, after := m.br.ReadByte(); after {
	case nil:
		return n, malformed("data after the end of the gzip member")
	case io.EOF:
		return n, io.EOF
	default:
		return n, after
	}
}

// gzipError tells damaged bytes from a reader that failed.
func gzipError(err error) error {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("gzip ends early")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt), errors.As(err, &internal):
		return malformed("gzip: %w", err)
	}
	return err
}

// decodeJSON reads canonical JSON.
func decodeJSON(r io.Reader, lim Limits) (*Tree, error) {
	r = &limitReader{r, lim.UncompressedBytes, overLimit("over %d bytes", lim.UncompressedBytes)}
	in := readBlocks(r, lim.lineBytes())
	defer in.stop()
	d := decoder{b: newBuilder(lim)}
	h := sha256.New()
	var block []byte
	var err error
	for {
		if block, err = in.next(block); err != nil {
			break
		}
		h.Write(block)
		if err = d.lines(block); err != nil {
			break
		}
	}
	if err == io.EOF {
		err = d.end()
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", d.where(), err)
	}
	t := d.b.tree(d.header, d.version)
	digest := digestPrefix + hex.EncodeToString(h.Sum(nil))
	t.digest = func() string { return digest }
	return t, nil
}

// decoder takes the lines of canonical JSON one after the other.
type decoder struct {
	b       *builder
	state   state
	header  Header
	version int
	reader  int    // minReader
	path    string // of the entry that failed
	partial bool   // the last block ended inside a line
}

// state is what the next line may be.
type state int

const (
	wantHeader state = iota
	wantAny          // an entry or the end
	wantEntry        // after a comma
	wantEnd          // after an entry without one
	wantNothing
)

// where names what was being decoded, for errors.
func (d *decoder) where() string {
	switch d.state {
	case wantHeader:
		return "snapshot header"
	case wantAny, wantEntry:
		if d.path == "" {
			return fmt.Sprintf("snapshot entry %d", d.b.t.n+1)
		}
		return fmt.Sprintf("snapshot entry %d %q", d.b.t.n+1, d.path)
	}
	return "snapshot end"
}

func (d *decoder) end() error {
	if d.partial || d.state != wantNothing {
		return malformed("ends early")
	}
	if least := d.b.t.minReader(); d.reader != least {
		return malformed("minReader %d of a tree that version %d can express", d.reader, least)
	}
	return nil
}

func (d *decoder) lines(block []byte) error {
	if d.state == wantHeader {
		if err := checkVersion(block); err != nil {
			return err
		}
	}
	for len(block) > 0 {
		end := bytes.IndexByte(block, '\n')
		if end < 0 {
			d.partial = true // the reason follows from the reader
			return nil
		}
		if err := d.line(block[:end]); err != nil {
			return err
		}
		block = block[end+1:]
	}
	return nil
}

func (d *decoder) line(line []byte) (err error) {
	switch d.state {
	case wantHeader:
		if d.header, d.version, d.reader, err = parseHeader(line); err == nil {
			d.state = wantAny
		}
		return err
	case wantAny:
		if string(line) == tail {
			d.state = wantNothing
			return nil
		}
		return d.entry(line)
	case wantEntry:
		return d.entry(line)
	case wantEnd:
		if string(line) == tail {
			d.state = wantNothing
			return nil
		}
		return malformed("want %q", tail)
	}
	return malformed("data after the end")
}

func (d *decoder) entry(line []byte) error {
	next := wantEnd
	if n := len(line); n > 0 && line[n-1] == ',' {
		line, next = line[:n-1], wantEntry
	}
	c := cursor{rest: line}
	path := c.string()
	err := d.b.parseEntry(&c, path)
	if err != nil {
		d.path = string(path)
		return err
	}
	d.state = next
	return nil
}
