package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T, yaml string, env, flags map[string]string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromafs.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Source{Path: path, Explicit: true, Flags: flags, Getenv: func(k string) string { return env[k] }})
}

func TestPrecedence(t *testing.T) {
	file := "collection: from-file\n"
	env := map[string]string{"CHROMAFS_COLLECTION": "from-env"}
	flags := map[string]string{"collection": "from-flag"}
	cases := []struct {
		name, yaml string
		env, flags map[string]string
		want       string
	}{
		{"default", "", nil, nil, "docs"},
		{"file", file, nil, nil, "from-file"},
		{"environment over file", file, env, nil, "from-env"},
		{"flag over environment", file, env, flags, "from-flag"},
	}
	for _, c := range cases {
		got, err := load(t, c.yaml, c.env, c.flags)
		if err != nil || got.Collection != c.want {
			t.Errorf("%s: collection %q, %v; want %q", c.name, got.Collection, err, c.want)
		}
	}
}

// TestEverySettingEverywhere sets each setting by each of its three ways and sees that it arrives.
func TestEverySettingEverywhere(t *testing.T) {
	values := map[string]string{"chroma": "http://h:1", "collection": "abc", "site": "s", "store": "st", "snapshot": "sn",
		"access-default": "authenticated", "url": "https://u", "format": "json", "token-key": "k", "token-jwks": "j",
		"token-audience": "a", "token-issuer": "i", "token-groups-claim": "g", "blobs": "bl", "s3-endpoint": "http://s3:1",
		"s3-region": "r", "s3-path-style": "true", "lazy-spec-bytes": "-1", "cache-dir": "c", "cache-bytes": "5"}
	got := func(c Config, key string) string {
		if key == "access-default" {
			if c.Default == nil {
				return ""
			}
			return c.Default.Visibility()
		}
		return map[string]string{"chroma": c.Chroma, "collection": c.Collection, "site": c.Site, "store": c.Store,
			"snapshot": c.Snapshot, "url": c.URL, "format": c.Format, "token-key": c.Viewers.Key, "token-jwks": c.Viewers.JWKS,
			"token-audience": c.Viewers.Audience, "token-issuer": c.Viewers.Issuer, "token-groups-claim": c.Viewers.GroupsClaim,
			"blobs": c.Blobs, "s3-endpoint": c.S3.Endpoint, "s3-region": c.S3.Region, "s3-path-style": fmt.Sprint(c.S3.PathStyle),
			"lazy-spec-bytes": fmt.Sprint(c.Lazy.SpecBytes), "cache-dir": c.CacheDir, "cache-bytes": fmt.Sprint(c.CacheBytes)}[key]
	}
	for _, s := range Settings {
		yaml := s.Key + ": " + values[s.Key] + "\n"
		if s.Key == "access-default" {
			yaml = "access:\n  default: authenticated\n"
		}
		for _, level := range []string{"s3", "lazy", "cache"} {
			if key, ok := strings.CutPrefix(s.Key, level+"-"); ok {
				yaml = level + ": {" + key + ": " + values[s.Key] + "}\n"
			}
		}
		if key, ok := strings.CutPrefix(s.Key, "token-"); ok {
			yaml = "access: {token: {" + key + ": " + values[s.Key] + "}}\n"
		}
		ways := map[string]struct {
			yaml       string
			env, flags map[string]string
		}{
			"file": {yaml: yaml}, "env": {env: map[string]string{s.Env: values[s.Key]}},
			"flag": {flags: map[string]string{s.Key: values[s.Key]}},
		}
		for way, w := range ways {
			c, err := load(t, w.yaml, w.env, w.flags)
			if err != nil || got(c, s.Key) != values[s.Key] {
				t.Errorf("%s by %s: got %q, %v; want %q", s.Key, way, got(c, s.Key), err, values[s.Key])
			}
		}
	}
}

func TestRefused(t *testing.T) {
	cases := []struct{ name, yaml, says string }{
		{"unknown key", "colection: x\n", "line 1: field colection not found"},
		{"wrong type", "include: {a: b}\n", "line 1"},
		{"not YAML", "a: [\n", "line 1"},
		{"two documents", "site: a\n---\nsite: b\n", "more than one document"},
		{"collection", "collection: a/b\n", `collection "a/b"`},
		{"site", "site: ../x\n", "site"},
		{"site of dots", "site: ..\n", "site"},
		{"format", "format: xml\n", `format "xml"`},
		{"url", "url: ftp://x\n", "not a web address"},
		{"url with a password", "url: http://me:secret@x/\n", "has a user"},
		{"snapshot", "snapshot: gs://b\n", "snapshot is neither a folder nor s3://BUCKET/PREFIX"},
		{"blobs", "blobs: https://me:secret@b/\n", "blobs is neither a folder nor s3://BUCKET/PREFIX"},
		{"endpoint with a password", "s3: {endpoint: \"http://me:secret@x\"}\n", "s3-endpoint is not a web address"},
		{"endpoint without a scheme", "s3: {endpoint: \"localhost:9000\"}\n", "s3-endpoint is not a web address"},
		{"path style", "s3: {path-style: maybe}\n", `s3-path-style "maybe"`},
		{"s3 key", "s3: {secret: x}\n", "line 1: field secret not found"},
		{"spec-bytes", "lazy: {spec-bytes: 64k}\n", `lazy-spec-bytes "64k" is not a whole number`},
		{"pointers of text", "lazy: {pointers: x}\n", "line 1: lazy.pointers: not an object"},
		{"pointer to the web", "lazy:\n  pointers:\n    a.json: https://x/a.json\n", `line 3: lazy.pointers: "a.json" does not point to s3://`},
		{"pointer to a list", "lazy:\n  pointers:\n    a.json: [s3://b/a]\n", `line 3: lazy.pointers: "a.json"`},
		{"access", "access: {default: maybe}\n", `"maybe" is neither public nor authenticated`},
		{"access key", "access: {fallback: public}\n", "line 1: field fallback not found"},
		{"token key", "access: {token: {jwk: x}}\n", "line 1: field jwk not found"},
		{"rules of text", "access: {rules: public}\n", "line 1"},
		{"rule of text", "access:\n  rules:\n    - public\n", "line 3: access.rules: not an object"},
		{"rule of nothing", "access:\n  rules:\n    - {path: a, allow: public}\n    -\n", "line 4: access.rules: not an object"},
		{"rule with a key twice", "access:\n  rules:\n    - {path: a, allow: public, path: b}\n", "already defined"},
		{"rule for a group called public", "access:\n  rules:\n    - {path: a, allow: [public]}\n", "write allow: public"},
		{"rule with another key", "access:\n  rules:\n    - {path: a, allow: public, deny: b}\n", `field "deny"`},
		{"rule without allow", "access:\n  rules:\n    - {path: a}\n", "both needed"},
		{"rule without path", "access:\n  rules:\n    - allow: public\n", "both needed"},
		{"rule for a group as text", "access:\n  rules:\n    - {path: a, allow: public}\n    - {path: a, allow: staff}\n", "line 4: access.rules"},
		{"rule for a reserved group", "access:\n  rules:\n    - {path: a, allow: [\"chromafs:x\"]}\n", "reserved"},
	}
	for _, c := range cases {
		_, err := load(t, c.yaml, nil, nil)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want ErrInvalid with %q", c.name, err, c.says)
		}
	}
}

func TestLazySettings(t *testing.T) {
	c, err := load(t, "lazy:\n  spec-bytes: 0\n  match: [\"*.pdf\"]\n  pointers:\n    b.json: s3://b/b\n    a.json: s3://b/a\n", nil, nil)
	if err != nil || c.Lazy.SpecBytes != 1 || len(c.Lazy.Match) != 1 || len(c.Lazy.Pointers) != 2 {
		t.Fatalf("%+v, %v", c.Lazy, err)
	}
	if p := c.Lazy.Pointers[1]; p.Path != "a.json" || p.URI != "s3://b/a" || p.At.Line != 6 || p.At.Path != c.File {
		t.Errorf("pointer %+v", p)
	}
}

func TestPathStyle(t *testing.T) {
	for endpoint, want := range map[string]bool{"": false, "http://localhost:9000": true} {
		if c, err := load(t, "", nil, map[string]string{"s3-endpoint": endpoint}); err != nil || c.S3.PathStyle != want {
			t.Errorf("endpoint %q: path style %v, %v", endpoint, c.S3.PathStyle, err)
		}
	}
}

func TestBlobFolder(t *testing.T) {
	cases := []struct {
		flags map[string]string
		want  string
	}{
		{nil, filepath.Join(".chromafs", "docs", "blobs")},
		{map[string]string{"blobs": "x"}, "x"},
		{map[string]string{"blobs": "s3://b"}, ""},
		{map[string]string{"chroma": "http://h"}, ""},
		{map[string]string{"chroma": "http://h", "blobs": "x"}, "x"},
	}
	for _, c := range cases {
		if got, err := load(t, "", nil, c.flags); err != nil || got.BlobFolder() != c.want {
			t.Errorf("%v: %q, %v; want %q", c.flags, got.BlobFolder(), err, c.want)
		}
	}
}

func TestMissingFile(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.yaml")
	getenv := func(string) string { return "" }
	if _, err := Load(Source{Path: none, Explicit: true, Getenv: getenv}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was named and is not there: %v", err)
	}
	if _, err := Load(Source{Path: none, Getenv: getenv}); err != nil {
		t.Errorf("no file at the default place: %v", err)
	}
}

func TestMisspeltFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "chromafs.yml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(Source{Path: filepath.Join(dir, "chromafs.yaml"), Getenv: func(string) string { return "" }})
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "chromafs.yml is not read") {
		t.Errorf("%v", err)
	}
}

func TestFolders(t *testing.T) {
	embedded := Config{Collection: "docs", Store: ".chromafs"}
	if got, want := embedded.SnapshotFolder(), filepath.Join(".chromafs", "docs", "snapshots"); got != want {
		t.Errorf("embedded snapshot folder %q, want %q", got, want)
	}
	if got := (Config{Chroma: "http://h", Store: ".chromafs"}).SnapshotFolder(); got != "" {
		t.Errorf("with a server and no folder named: %q, want none", got)
	}
	if got := (Config{Chroma: "http://h", Snapshot: "x"}).SnapshotFolder(); got != "x" {
		t.Errorf("named folder: %q", got)
	}
}

func TestDefaultAt(t *testing.T) {
	yaml := "site: a\naccess:\n  default: public\n"
	env := map[string]string{"CHROMAFS_ACCESS_DEFAULT": "public"}
	for want, given := range map[string][2]map[string]string{
		"chromafs.yaml:3": {}, "CHROMAFS_ACCESS_DEFAULT": {env}, "--access-default": {env, {"access-default": "public"}},
	} {
		c, err := load(t, yaml, given[0], given[1])
		if err != nil || !strings.HasSuffix(c.DefaultAt.String(), want) {
			t.Errorf("%s: %v, %v", want, c.DefaultAt, err)
		}
	}
}

func TestRules(t *testing.T) {
	c, err := load(t, "access:\n  rules:\n    - &a {path: \"a/**\", allow: public}\n    - path: b\n      allow: [staff, \"x y\"]\n    - {path: c, allow: [{includes: [\"*\"], excludes: [x]}]}\n    - *a\n", nil, nil)
	if err != nil || len(c.Rules) != 4 {
		t.Fatalf("%+v, %v", c.Rules, err)
	}
	want := []string{"everyone", `groups "staff", "x y"`, `any signed-in viewer but groups "x"`}
	for i, line := range []int{3, 4, 6} {
		r := c.Rules[i]
		if r.Access.String() != want[i] || r.At.Line != line || r.At.Path != c.File || c.File == "" {
			t.Errorf("rule %d: %+v, in %q", i, r, c.File)
		}
	}
}
