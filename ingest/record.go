package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/chromafs/chromafs/chunker"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// embedder names what the vectors are: constant, since the filesystem needs no more.
const embedder = "none"

// recordSettings digests every setting that changes a record: a reader recomputes revisions from it.
func recordSettings(url string) string {
	s := fmt.Sprintf("records %d\nchunker %d %d %d\nembedder %s\nurl %s\n",
		snapshot.RecordVersion, chunker.Version, chunker.TargetBytes, chunker.MaxBytes, embedder, url)
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// records makes the chunk records of one page, which must still cut as planned.
func (r *run) records(e snapshot.Entry, f *source.File) ([]index.Record, error) {
	chunks, err := chunker.Split(chunker.SyntaxOf(f.Path), f.Content)
	if err != nil {
		return nil, err
	}
	if len(chunks) != e.Chunks {
		return nil, fmt.Errorf("%d chunks, planned %d: publish with --rewrite", len(chunks), e.Chunks)
	}
	rev := snapshot.Rev(r.header, e)
	meta := index.Metadata{
		Kind: index.KindChunk, PageSlug: r.header.Slug(e.Path), Site: r.Site,
		IsPublic: e.Access.Public, Groups: e.Access.RecordGroups(), Visibility: e.Access.Visibility(),
		Title: cut(f.Title), URL: r.pageURL(f),
	}
	out := make([]index.Record, len(chunks))
	for i, c := range chunks {
		meta.ChunkIndex, meta.StartLine, meta.Headings = i, c.StartLine, cut(strings.Join(c.Headings, " > "))
		out[i] = index.Record{ID: snapshot.RecordID(rev, i), Document: string(c.Text), Metadata: meta}
	}
	return out, nil
}

// pageURL is where the site shows the page: its path without the extension, and without a final index.
func (r *run) pageURL(f *source.File) string {
	if r.URL == "" {
		return ""
	}
	p := f.Path
	if f.Kind == source.Page {
		p = strings.TrimSuffix(p, path.Ext(p))
		if p == "index" {
			return r.URL
		}
		p = strings.TrimSuffix(p, "/index")
	}
	return r.URL + "/" + (&url.URL{Path: p}).EscapedPath()
}

// cut makes s what a metadata value may hold: valid UTF-8 without NUL, which YAML can write as an escape, and not long.
func cut(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) <= index.MaxKeyBytes {
		return s
	}
	n := index.MaxKeyBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
