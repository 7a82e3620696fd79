package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromafs/chromafs/index"
)

// A pack is closed once it has this many bytes of documents, or this many records. Larger packs are a little faster to
// scan and slower to take one document from.
const (
	packBytes   = 32 << 10
	packRecords = 256
)

// column is the values of one column of a pack, joined by NUL.
type column []byte

// next cuts off the first value.
func (c *column) next() []byte {
	value, rest, _ := bytes.Cut(*c, []byte{0})
	*c = rest
	return value
}

func (c column) len() int { return bytes.Count(c, []byte{0}) + 1 }

func (c column) values() []string { return strings.Split(string(c), "\x00") }

// pack is one row: at least one record, all of one kind and site.
type pack struct {
	kind, site               string
	records                  int
	ids, metadata, documents column
}

// newPack has columns that are empty, not nil, which would be NULL.
func newPack(kind, site string) *pack {
	const documents = packBytes + 16<<10
	return &pack{
		kind: kind, site: site,
		ids: make(column, 0, 4<<10), metadata: make(column, 0, 16<<10), documents: make(column, 0, documents),
	}
}

// add appends a record; its metadata are encoded already.
func (p *pack) add(id, metadata, document []byte) {
	if p.records > 0 {
		p.ids, p.metadata, p.documents = append(p.ids, 0), append(p.metadata, 0), append(p.documents, 0)
	}
	p.ids, p.metadata, p.documents = append(p.ids, id...), append(p.metadata, metadata...), append(p.documents, document...)
	p.records++
}

func (p *pack) full() bool { return len(p.documents) >= packBytes || p.records >= packRecords }

func (p *pack) reset() {
	p.records, p.ids, p.metadata, p.documents = 0, p.ids[:0], p.metadata[:0], p.documents[:0]
}

// without is the pack less the records that drop names.
func (p *pack) without(drop map[string]bool) (*pack, error) {
	n := p.ids.len()
	if n != p.metadata.len() || n != p.documents.len() {
		return nil, errPack
	}
	kept := newPack(p.kind, p.site)
	ids, metadata, documents := p.ids, p.metadata, p.documents
	for range n {
		id, m, d := ids.next(), metadata.next(), documents.next()
		if !drop[string(id)] {
			kept.add(id, m, d)
		}
	}
	return kept, nil
}

var errPack = fmt.Errorf("%w: a pack with columns of unequal length", index.ErrCorrupt)

// packer spreads records over packs of one kind and site each, and gives every full pack to put.
type packer struct {
	put  func(*pack) error
	open []*pack
}

func (k *packer) add(r *index.Record) error {
	metadata, err := json.Marshal(&r.Metadata)
	if err != nil {
		return fmt.Errorf("record %q: %w", r.ID, err)
	}
	p := k.pack(r.Metadata.Kind, r.Metadata.Site)
	p.add([]byte(r.ID), metadata, []byte(r.Document))
	if p.full() {
		return k.flush(p)
	}
	return nil
}

func (k *packer) pack(kind, site string) *pack {
	for _, p := range k.open {
		if p.kind == kind && p.site == site {
			return p
		}
	}
	p := newPack(kind, site)
	k.open = append(k.open, p)
	return p
}

func (k *packer) flush(p *pack) error {
	err := k.put(p)
	p.reset()
	return err
}

// close puts the packs that are not full.
func (k *packer) close() error {
	for _, p := range k.open {
		if p.records > 0 {
			if err := k.flush(p); err != nil {
				return err
			}
		}
	}
	return nil
}
