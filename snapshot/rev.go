package snapshot

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strconv"
)

// RecordVersion is raised whenever chromafs writes other records for the same page and settings, so that all are written
// anew beside the old ones.
const RecordVersion = 1

var revEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Rev is the revision of a file: 26 characters that change when its path, content or access change, or anything else
// that its records hold. FORMAT.md says how it is computed.
func Rev(h Header, e Entry) string {
	b := appendField(make([]byte, 0, 512), "chromafs.rev")
	b = appendField(b, strconv.Itoa(RecordVersion))
	b = appendField(b, h.Site)
	b = appendField(b, e.Path)
	b = appendField(b, e.SHA256[:])
	b = appendField(b, h.Records)
	b = appendField(b, strconv.FormatBool(e.Access.Public))
	for _, g := range e.Access.Groups {
		b = appendField(b, g)
	}
	if len(e.Access.Excludes) > 0 {
		b = appendField(b, "") // no group has that name
	}
	for _, g := range e.Access.Excludes {
		b = appendField(b, g)
	}
	sum := sha256.Sum256(b)
	var text [26]byte
	revEncoding.Encode(text[:], sum[:16])
	return string(text[:])
}

func appendField[T string | []byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
	return append(b, field...)
}

// RecordID is the id of the record that holds one chunk, counted from 0, of a revision.
func RecordID(rev string, chunk int) string { return rev + "#" + strconv.Itoa(chunk) }

// Rev is the revision of entry i, a file.
func (t *Tree) Rev(i int) string { return Rev(t.header, t.At(i)) }

// IDs are the record ids of entry i in chunk order; a link or a lazy file has none.
func (t *Tree) IDs(i int) []string {
	e := t.At(i)
	if e.Chunks == 0 {
		return nil
	}
	rev := Rev(t.header, e)
	ids := make([]string, e.Chunks)
	for n := range ids {
		ids[n] = RecordID(rev, n)
	}
	return ids
}
