package snapshot

import (
	"bytes"
	"encoding/base64"
	"io"
	"strconv"
)

// SeeParts is the document of the path-tree record when the compact tree is over the quota, and so no JSON.
const SeeParts = "chromafs: see parts"

// compact is the tree that other readers of the layout parse: base64 of gzipped JSON, page_slug to isPublic, groups and
// size, without links and lazy files, which have no records. They know no excludes, so a page that has some is for nobody. Over quota
// bytes it is SeeParts.
func (t *Tree) compact(quota int) string {
	var buf bytes.Buffer
	most := int64(quota / 4 * 3)
	zw := newGzip(&limitWriter{&buf, most, ErrLimit})
	rights := make([][]byte, len(t.classes))
	for i, c := range t.classes {
		rights[i] = appendAccess(nil, c.access.Compact())
	}
	var line []byte
	sep := byte('{')
	for i := range t.n {
		r := t.row(i)
		if r.chunks <= 0 {
			continue
		}
		line = appendQuoted(append(line[:0], sep), t.header.Slug(t.Path(i)))
		line = append(append(line, ":{"...), rights[r.class]...)
		line = strconv.AppendInt(append(line, `,"size":`...), r.size, 10)
		if _, err := zw.Write(append(line, '}')); err != nil {
			return SeeParts
		}
		sep = ','
	}
	end := "}"
	if sep == '{' {
		end = "{}"
	}
	if _, err := io.WriteString(zw, end); err != nil || zw.Close() != nil {
		return SeeParts
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}
