package snapshot

import (
	"bytes"
	stdgzip "compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
)

func cutAll(t *testing.T, tree *Tree) []stored {
	t.Helper()
	var parts []stored
	if err := tree.cut(func(s stored) error { parts = append(parts, s); return nil }); err != nil {
		t.Fatal(err)
	}
	return parts
}

func join(t *testing.T, site string, parts []stored) string {
	t.Helper()
	u := unpacker{site: site}
	var text strings.Builder
	for _, p := range parts {
		plain, err := u.unpack(p)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(plain)
	}
	return text.String()
}

// widest is as many bytes that no compression makes shorter as one entry can hold.
func widest(path byte, target string) Entry {
	r := rand.New(rand.NewPCG(1, uint64(path)))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(0x30 + r.IntN(0x4f))
		}
		return string(b)
	}
	var groups, excludes []string
	for range access.MaxGroups {
		groups, excludes = append(groups, text(access.MaxGroupBytes)), append(excludes, text(access.MaxGroupBytes))
	}
	slices.Sort(groups)
	slices.Sort(excludes)
	e := file(string(path) + text(3999))
	if e.Access = (access.Access{Groups: groups, Excludes: excludes}); target != "" {
		e = Entry{Path: e.Path, Access: e.Access, Link: target + text(3900)}
	}
	return e
}

func TestParts(t *testing.T) {
	trees := map[string][]Entry{
		"none":   nil,
		"one":    files("a"),
		"many":   someEntries(5000),
		"widest": {widest('a', ""), widest('b', "x"), file("c"), widest('d', "")},
	}
	for name, entries := range trees {
		for _, site := range []string{"", strings.Repeat("s", MaxSiteBytes)} {
			tree := mustNew(t, Header{Site: site}, entries)
			parts := cutAll(t, tree)
			if join(t, site, parts) != encodeText(t, tree) {
				t.Errorf("%s: parts do not make up the tree", name)
			}
			for _, p := range parts {
				if len(p.text) > partBytes || len(p.id) > 128 {
					t.Errorf("%s: part %s of %d bytes", name, p.id, len(p.text))
				}
			}
			if n := len(entries) / 50; n > 0 && len(parts) > n {
				t.Errorf("%s: %d parts of %d entries", name, len(parts), len(entries))
			}
		}
	}
}

// A change of one entry leaves all parts but those around it as they were.
func TestPartsAreStable(t *testing.T) {
	entries := someEntries(4000)
	known := map[string]bool{}
	for _, p := range cutAll(t, mustNew(t, Header{}, entries)) {
		known[p.id] = true
	}
	changes := map[string][]Entry{
		"insert": slices.Insert(slices.Clone(entries), 2000, file(entries[1999].Path+"!")),
		"delete": slices.Delete(slices.Clone(entries), 2000, 2001),
		"append": append(slices.Clone(entries), file("zzz")),
	}
	for name, changed := range changes {
		fresh := 0
		for _, p := range cutAll(t, mustNew(t, Header{}, changed)) {
			if !known[p.id] {
				fresh++
			}
		}
		if fresh == 0 || fresh > 4 {
			t.Errorf("%s: %d new parts of %d", name, fresh, len(known))
		}
	}
}

func TestManifests(t *testing.T) {
	ctx := context.Background()
	digest := digestPrefix + strings.Repeat("a", 64)
	for _, site := range []string{"", "v2"} {
		root, _ := rootID(digest, site)
		for _, n := range []int{1, 234, 235, 100_000} {
			c := &Collection{Store: indextest.Memory(), Site: site}
			var ids []string
			for i := range n {
				ids = append(ids, partID(fmt.Append(nil, i), site))
			}
			list := manifests(root, site, ids)
			if err := c.write(ctx, list, func(a, b stored) bool { return a == b }); err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				if len(m.text) > partBytes {
					t.Errorf("manifest of %d bytes", len(m.text))
				}
			}
			got, err := c.named(ctx, root, false)
			if err != nil || !slices.Equal(got.parts, ids) || len(got.manifests) != len(list) || got.manifests[len(list)-1] != root {
				t.Errorf("%d parts: error %v, have %d parts, %d manifests", n, err, len(got.parts), len(got.manifests))
			}
		}
	}
}

func TestManifestsRefused(t *testing.T) {
	ctx := context.Background()
	root, _ := rootID(digestPrefix+strings.Repeat("a", 64), "")
	part := partID([]byte("x"), "") + "\n"
	deep := manifests(root, "", []string{partID(nil, "")})
	for range maxLevels {
		deep = append(deep, stored{manifestID(deep[len(deep)-1].text, ""), deep[len(deep)-1].text})
		deep = append(deep, stored{root, deep[len(deep)-1].id + "\n"})
	}
	vectors := map[string]struct {
		list []stored
		want error
	}{
		"missing":          {nil, ErrMissing},
		"itself":           {[]stored{{root, root + "\n"}}, ErrMalformed},
		"no id":            {[]stored{{root, "x\n"}}, ErrMalformed},
		"no line end":      {[]stored{{root, strings.TrimSuffix(part, "\n")}}, ErrMalformed},
		"empty line":       {[]stored{{root, part + "\n" + part}}, ErrMalformed},
		"another site":     {[]stored{{root, partID([]byte("x"), "v2") + "\n"}}, ErrMalformed},
		"both kinds":       {[]stored{{root, part + manifestID("y", "") + "\n"}}, ErrMalformed},
		"inner is missing": {[]stored{{root, manifestID("y", "") + "\n"}}, ErrMissing},
		"inner is altered": {[]stored{{root, manifestID("y", "") + "\n"}, {manifestID("y", ""), part}}, ErrDigest},
		"too deep":         {deep, ErrMalformed},
	}
	for name, v := range vectors {
		c := &Collection{Store: indextest.Memory()}
		if err := c.write(ctx, v.list, func(a, b stored) bool { return a == b }); err != nil {
			t.Fatal(err)
		}
		if _, err := c.named(ctx, root, false); !errors.Is(err, v.want) {
			t.Errorf("%s: got error %v, want %v", name, err, v.want)
		}
	}
}

func TestPartRefused(t *testing.T) {
	u := unpacker{}
	good := stored{partID([]byte("text"), ""), base64.StdEncoding.EncodeToString(zip(t, "text"))}
	if plain, err := u.unpack(good); err != nil || string(plain) != "text" {
		t.Fatalf("the good part: %q, %v", plain, err)
	}
	for name, doc := range map[string]string{
		"empty":     "",
		"no base64": "!",
		"no gzip":   base64.StdEncoding.EncodeToString([]byte("text")),
		"cut":       good.text[:len(good.text)-8],
		"other":     base64.StdEncoding.EncodeToString(zip(t, "test")),
		"too long":  good.text + strings.Repeat("A", partBytes),
	} {
		if _, err := u.unpack(stored{good.id, doc}); !errors.Is(err, ErrDigest) || !strings.Contains(err.Error(), good.id) {
			t.Errorf("%s: got error %v, want one that names the part", name, err)
		}
	}
}

// The path-tree record is what readers of the layout parse: base64 of gzipped JSON.
func TestPathTreeRecord(t *testing.T) {
	ctx := context.Background()
	store := indextest.Memory()
	secret := file("b/语 \"x\".md")
	secret.Access = access.Access{Groups: []string{"admin"}}
	but := file("c.md")
	but.Access = access.Access{Groups: []string{"*", "admin"}, Excludes: []string{"guests"}}
	tree := mustNew(t, Header{Site: "v2"}, []Entry{file("a.md"), secret, but, {Path: "link", Link: "a.md"}})
	publish(t, &Collection{Store: store, Site: "v2"}, tree, day)

	got, err := store.Get(ctx, []string{"__path_tree__:v2"})
	if err != nil || len(got) != 1 {
		t.Fatalf("%d records, error %v", len(got), err)
	}
	root := "manifest:" + strings.TrimPrefix(tree.Digest(), "s1:") + ":v2"
	want := index.Metadata{
		Kind: "path_tree", Groups: []string{"chromafs:none"}, Visibility: "tree", Site: "v2",
		Snapshot: tree.Digest(), Parts: root, PublishedAt: day.Unix(),
	}
	if !reflect.DeepEqual(got[0].Metadata, want) {
		t.Errorf("metadata %+v\nwant %+v", got[0].Metadata, want)
	}
	var paths map[string]any
	if err := json.Unmarshal(inflate(t, got[0].Document), &paths); err != nil {
		t.Fatal(err)
	}
	wantPaths := map[string]any{
		"v2/a.md":         map[string]any{"isPublic": true, "groups": []any{}, "size": 8.0},
		"v2/b/语 \"x\".md": map[string]any{"isPublic": false, "groups": []any{"admin"}, "size": 8.0},
		"v2/c.md":         map[string]any{"isPublic": false, "groups": []any{}, "size": 8.0},
	}
	if !reflect.DeepEqual(paths, wantPaths) {
		t.Errorf("compact tree %v\nwant %v", paths, wantPaths)
	}
	ids, err := store.IDs(ctx, index.KindPart, "v2")
	if err != nil || len(ids) != 2 {
		t.Fatalf("parts %q, error %v", ids, err)
	}
	parts, err := store.Get(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	want = index.Metadata{Kind: "part", Groups: []string{"chromafs:none"}, Visibility: "part", Site: "v2"}
	for _, p := range parts {
		if p.Metadata.Part == "" || p.Document != partDocument {
			t.Errorf("%s: text %q, document %q", p.ID, p.Metadata.Part, p.Document)
		}
		if p.Metadata.Part = ""; !reflect.DeepEqual(p.Metadata, want) {
			t.Errorf("metadata of %s: %+v", p.ID, p.Metadata)
		}
	}
}

func inflate(t *testing.T, document string) []byte {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(document)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := stdgzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(zr); err != nil {
		t.Fatal(err)
	}
	return plain.Bytes()
}

func TestCompactQuota(t *testing.T) {
	tree := mustNew(t, Header{}, someEntries(1000))
	whole := tree.compact(1 << 20)
	if len(whole) <= cloudDocumentBytes || tree.compact(len(whole)) != whole {
		t.Errorf("compact tree of %d bytes does not fit its length", len(whole))
	}
	if got := tree.compact(len(whole) - 1); got != SeeParts {
		t.Errorf("over the quota the document is %.40q", got)
	}
	empty := mustNew(t, Header{}, []Entry{{Path: "link", Link: "x"}})
	if got := inflate(t, empty.compact(cloudDocumentBytes)); string(got) != "{}" {
		t.Errorf("compact tree of no files is %q", got)
	}
	store := indextest.Memory()
	publish(t, &Collection{Store: store}, tree, day)
	docs, err := store.Documents(context.Background(), []string{TreeID("")})
	if err != nil || docs[TreeID("")] != SeeParts {
		t.Errorf("document %.40q, error %v", docs[TreeID("")], err)
	}
}

func TestPointerRefused(t *testing.T) {
	c := &Collection{Site: "v2"}
	p := pointer{digest: digestPrefix + strings.Repeat("1", 64), at: day, retiring: []string{digestPrefix + strings.Repeat("2", 64)}}
	rec, err := c.record(p, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.parse(rec.Metadata); err != nil || !reflect.DeepEqual(got, p) {
		t.Fatalf("pointer %+v comes back as %+v, error %v", p, got, err)
	}
	for name, change := range map[string]func(*index.Metadata){
		"no snapshot":        func(m *index.Metadata) { m.Snapshot = "" },
		"other snapshot":     func(m *index.Metadata) { m.Snapshot = digestPrefix + strings.Repeat("3", 64) },
		"no parts":           func(m *index.Metadata) { m.Parts = "" },
		"no site":            func(m *index.Metadata) { m.Site = "" },
		"no time":            func(m *index.Metadata) { m.PublishedAt = 0 },
		"retiring no ids":    func(m *index.Metadata) { m.Retiring = "x" },
		"retiring itself":    func(m *index.Metadata) { m.Retiring = m.Parts },
		"retiring with gaps": func(m *index.Metadata) { m.Retiring += "," },
	} {
		m := rec.Metadata
		change(&m)
		if _, err := c.parse(m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	for range 100 {
		p.retiring = append(p.retiring, p.digest)
	}
	if _, err := c.record(p, ""); !errors.Is(err, ErrLimit) {
		t.Errorf("101 retiring snapshots: %v", err)
	}
}

// Only what is new is written.
func TestPublishWritesLittle(t *testing.T) {
	ctx := context.Background()
	written := map[string]bool{}
	store := &counting{Store: indextest.Memory(), written: written}
	c := &Collection{Store: store}
	entries := someEntries(3000)
	publish(t, c, mustNew(t, Header{}, entries), day)
	all := len(written)
	clear(written)
	entries[1500].Size++
	b := mustNew(t, Header{}, entries)
	publish(t, c, b, day)
	if len(written) != 3 || all < 15 {
		t.Errorf("wrote %d records of %d: one part, one manifest and the path-tree record are new", len(written), all)
	}
	clear(written)
	publish(t, c, b, day)
	if len(written) != 0 {
		t.Errorf("publishing again wrote %d records", len(written))
	}
	ids, err := store.IDs(ctx, "", "")
	if err != nil || len(ids) != all+2 {
		t.Errorf("%d records, error %v", len(ids), err)
	}
}

type counting struct {
	index.Store
	written map[string]bool
}

func (c *counting) Upsert(ctx context.Context, records []index.Record) error {
	for _, r := range records {
		c.written[r.ID] = true
	}
	return c.Store.Upsert(ctx, records)
}
