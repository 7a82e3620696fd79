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
	public := "false"
	if e.Access.Public {
		public = "true"
	}
	fields := []string{
		"chromafs.rev", strconv.Itoa(RecordVersion), h.Site, e.Path, string(e.SHA256[:]), h.Records, public,
	}
	var b []byte
	for _, f := range append(fields, e.Access.Groups...) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	sum := sha256.Sum256(b)
	return revEncoding.EncodeToString(sum[:16])
}

// RecordID is the id of the record that holds one chunk, counted from 0, of a revision.
func RecordID(rev string, chunk int) string { return rev + "#" + strconv.Itoa(chunk) }

// Rev is the revision of entry i, a file.
func (t *Tree) Rev(i int) string { return Rev(t.header, t.At(i)) }

// IDs are the record ids of entry i in chunk order; a link has none.
func (t *Tree) IDs(i int) []string {
	e := t.At(i)
	if e.IsLink() {
		return nil
	}
	rev := Rev(t.header, e)
	ids := make([]string, e.Chunks)
	for n := range ids {
		ids[n] = RecordID(rev, n)
	}
	return ids
}
