package chroma

import (
	"encoding/json"
	"fmt"

	"github.com/chromafs/chromafs/index"
)

// Keys that records are selected by.
const (
	keyKind = "kind"
	keySite = "site"
)

// encode is what is sent of m: a key only where the record has a value, since each costs some 3 % of the write rate.
func encode(m *index.Metadata) map[string]any {
	keys := map[string]any{"isPublic": m.IsPublic, "groups": m.Groups, "visibility": m.Visibility}
	put(keys, keyKind, m.Kind)
	put(keys, "page_slug", m.PageSlug)
	put(keys, "chunk_index", m.ChunkIndex)
	put(keys, "title", m.Title)
	put(keys, "headings", m.Headings)
	put(keys, "start_line", m.StartLine)
	put(keys, keySite, m.Site)
	put(keys, "url", m.URL)
	put(keys, "retired_at", m.RetiredAt)
	put(keys, "snapshot", m.Snapshot)
	put(keys, "parts", m.Parts)
	put(keys, "published_at", m.PublishedAt)
	put(keys, "retiring", m.Retiring)
	put(keys, "part", m.Part)
	if m.Kind == index.KindChunk {
		keys["chunk_index"] = m.ChunkIndex
	}
	return keys
}

func put[T comparable](keys map[string]any, key string, value T) {
	if value != *new(T) {
		keys[key] = value
	}
}

func validate(records []index.Record) error {
	for i := range records {
		if err := validateGroups(records[i].ID, &records[i].Metadata); err != nil {
			return err
		}
	}
	return index.Validate(records)
}

func validateCopies(copies []index.Copy) error {
	for i := range copies {
		if err := validateGroups(copies[i].To, &copies[i].Metadata); err != nil {
			return err
		}
	}
	return index.ValidateCopies(copies)
}

// validateGroups: Chroma drops an empty array, and then the record may inherit the groups of a dropped one (chroma #7594).
func validateGroups(id string, m *index.Metadata) error {
	if len(m.Groups) == 0 {
		return fmt.Errorf("record %q: no groups", id)
	}
	return nil
}

// metadata is what the server has for one record, whoever wrote it. Keys are compared exactly, as encoding/json does
// not when it fills a struct.
type metadata map[string]json.RawMessage

// take reads a key into v, and reports whether it is there with a value of v's type. Else v stays as it is.
func take[T any](m metadata, key string, v *T) bool {
	raw, ok := m[key]
	if !ok || string(raw) == "null" {
		return false
	}
	var value T
	if json.Unmarshal(raw, &value) != nil {
		return false
	}
	*v = value
	return true
}

// decode takes what it can, since anybody may write records and call them chunks: what is wrong with one of ours is for
// verify to say.
func decode(m metadata) index.Metadata {
	var d index.Metadata
	take(m, keyKind, &d.Kind)
	take(m, "page_slug", &d.PageSlug)
	take(m, "chunk_index", &d.ChunkIndex)
	take(m, "isPublic", &d.IsPublic)
	take(m, "groups", &d.Groups)
	take(m, "visibility", &d.Visibility)
	take(m, "title", &d.Title)
	take(m, "headings", &d.Headings)
	take(m, "start_line", &d.StartLine)
	take(m, keySite, &d.Site)
	take(m, "url", &d.URL)
	take(m, "retired_at", &d.RetiredAt)
	take(m, "snapshot", &d.Snapshot)
	take(m, "parts", &d.Parts)
	take(m, "published_at", &d.PublishedAt)
	take(m, "retiring", &d.Retiring)
	take(m, "part", &d.Part)
	return d
}
