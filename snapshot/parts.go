package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	partPrefix     = "part:"
	manifestPrefix = "manifest:"
	// partBytes bounds the text of a part or manifest, see FORMAT.md: Chroma Cloud takes metadata values of 8,182 bytes.
	partBytes = 8000
	// partDocument is the document of every part and manifest.
	partDocument = "chromafs: part"
)

// Where parts are cut is the writer's choice. An entry begins a part if the first byte of its path's SHA-256 is below
// partMark, one entry in 128, so that a change moves no border but its own; and once a part has maxPartEntries.
const (
	partMark       = 2
	maxPartEntries = 88
)

// stored is a part or a manifest as it is stored.
type stored struct{ id, text string }

// partID names a part of site by the digest of its bytes. The site is in it, so that no site deletes another's parts.
func partID(plain []byte, site string) string {
	sum := sha256.Sum256(plain)
	return recordID(partPrefix, hex.EncodeToString(sum[:]), site)
}

func recordID(prefix, hex, site string) string {
	if site == "" {
		return prefix + hex
	}
	return prefix + hex + ":" + site
}

// parseID takes the hex digits out of what recordID made.
func parseID(id, prefix, site string) (hex string, ok bool) {
	hex, ok = strings.CutPrefix(id, prefix)
	if ok && site != "" {
		hex, ok = strings.CutSuffix(hex, ":"+site)
	}
	return hex, ok && isHex(hex)
}

// cut calls emit with the parts of t in order.
func (t *Tree) cut(emit func(stored) error) error {
	p := packer{site: t.header.Site, emit: emit, zw: newGzip(nil)}
	var slice []byte
	entries := 0
	for i, line := range t.lines() {
		if i >= 0 && i < t.n && (entries == maxPartEntries || entries > 0 && beginsPart(t.Path(i))) {
			if err := p.parts(slice); err != nil {
				return err
			}
			slice, entries = slice[:0], 0
		}
		slice = append(slice, line...)
		if i >= 0 {
			entries++
		}
	}
	return p.parts(slice)
}

func beginsPart(path string) bool {
	sum := sha256.Sum256([]byte(path))
	return sum[0] < partMark
}

// packer makes parts.
type packer struct {
	site string
	emit func(stored) error
	zw   *gzip.Writer
	buf  bytes.Buffer
}

// parts emits slice as one part, or as more if that is too long.
func (p *packer) parts(slice []byte) error {
	doc, err := p.pack(slice)
	if err != nil {
		return err
	}
	if len(doc) <= partBytes {
		return p.emit(stored{partID(slice, p.site), doc})
	}
	middle := halve(slice)
	if err := p.parts(slice[:middle]); err != nil {
		return err
	}
	return p.parts(slice[middle:])
}

func (p *packer) pack(plain []byte) (string, error) {
	p.buf.Reset()
	p.zw.Reset(&p.buf)
	if _, err := p.zw.Write(plain); err != nil {
		return "", err
	}
	if err := p.zw.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(p.buf.Bytes()), nil
}

// halve cuts at the line end next to the middle, or in the middle of a single line.
func halve(slice []byte) int {
	middle := len(slice) / 2
	if i := bytes.LastIndexByte(slice[:middle], '\n'); i >= 0 {
		return i + 1
	}
	if i := bytes.IndexByte(slice, '\n'); i >= 0 && i+1 < len(slice) {
		return i + 1
	}
	return middle
}

// unpacker is the inverse of packer.
type unpacker struct {
	site  string
	zr    gzip.Reader
	plain bytes.Buffer
}

// unpack returns the bytes of a part, which are what its id promises, and good until the next call.
func (u *unpacker) unpack(s stored) ([]byte, error) {
	fail := func(why any) ([]byte, error) { return nil, fmt.Errorf("%s: %w: %v", s.id, ErrDigest, why) }
	if len(s.text) > partBytes {
		return fail(fmt.Sprintf("%d bytes", len(s.text)))
	}
	packed, err := base64.StdEncoding.DecodeString(s.text)
	if err != nil {
		return fail(err)
	}
	if err := u.zr.Reset(bytes.NewReader(packed)); err != nil {
		return fail(err)
	}
	u.plain.Reset()
	if _, err := io.Copy(&u.plain, &u.zr); err != nil {
		return fail(err)
	}
	if partID(u.plain.Bytes(), u.site) != s.id {
		return fail("other content")
	}
	return u.plain.Bytes(), nil
}

// manifests lists ids, one a line, in as many documents as it takes, and those likewise, until one is left: the root,
// which is named by the digest of the snapshot, and comes last. The others are named by their own.
func manifests(root, site string, ids []string) []stored {
	var all []stored
	for {
		docs := listIDs(ids)
		if len(docs) == 1 {
			return append(all, stored{root, docs[0]})
		}
		ids = ids[:0:0]
		for _, d := range docs {
			id := manifestID(d, site)
			ids = append(ids, id)
			all = append(all, stored{id, d})
		}
	}
}

func manifestID(text, site string) string {
	sum := sha256.Sum256([]byte(text))
	return recordID(manifestPrefix, hex.EncodeToString(sum[:]), site)
}

// rootID is the id of the root manifest of a snapshot; ok is false for what is no digest.
func rootID(digest, site string) (id string, ok bool) {
	hex, ok := digestHex(digest)
	return recordID(manifestPrefix, hex, site), ok
}

func listIDs(ids []string) (docs []string) {
	var b strings.Builder
	for _, id := range ids {
		if b.Len()+len(id)+1 > partBytes {
			docs = append(docs, b.String())
			b.Reset()
		}
		b.WriteString(id)
		b.WriteByte('\n')
	}
	return append(docs, b.String())
}
