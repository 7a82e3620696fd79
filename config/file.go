package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/chromafs/chromafs/access"
)

// file is chromafs.yaml.
type file struct {
	Docs       string    `yaml:"docs"`
	Chroma     string    `yaml:"chroma"`
	Collection string    `yaml:"collection"`
	Site       string    `yaml:"site"`
	Store      string    `yaml:"store"`
	Snapshot   string    `yaml:"snapshot"`
	Blobs      string    `yaml:"blobs"`
	S3         s3File    `yaml:"s3"`
	Cache      cacheFile `yaml:"cache"`
	Lazy       lazyFile  `yaml:"lazy"`
	URL        string    `yaml:"url"`
	Format     string    `yaml:"format"`
	Include    []string  `yaml:"include"`
	Exclude    []string  `yaml:"exclude"`
	Access     rules     `yaml:"access"`
}

type s3File struct {
	Endpoint  string `yaml:"endpoint"`
	Region    string `yaml:"region"`
	PathStyle string `yaml:"path-style"`
}

type cacheFile struct {
	Dir   string `yaml:"dir"`
	Bytes string `yaml:"bytes"`
}

// lazyFile are the settings of lazy files.
type lazyFile struct {
	SpecBytes string      `yaml:"spec-bytes"`
	Match     []string    `yaml:"match"`
	Pointers  pointerList `yaml:"pointers"`
}

// pointerList is lazy.pointers.
type pointerList []Pointer

// UnmarshalYAML takes an object of paths and URIs. What is not a URI is not repeated in the error: it may hold a password.
func (l *pointerList) UnmarshalYAML(n *yaml.Node) error {
	n = behind(n)
	if n.Kind != yaml.MappingNode {
		return wrong(n, "lazy.pointers", "not an object of paths and what they point to")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var p Pointer
		key, value := behind(n.Content[i]), behind(n.Content[i+1])
		if key.Decode(&p.Path) != nil || value.Decode(&p.URI) != nil || !IsBucket(p.URI) {
			return wrong(key, "lazy.pointers", fmt.Sprintf("%q does not point to s3://BUCKET/KEY", key.Value))
		}
		p.At.Line = n.Content[i].Line
		*l = append(*l, p)
	}
	return nil
}

// rules are the settings of access.
type rules struct {
	Default lined     `yaml:"default"`
	Rules   ruleList  `yaml:"rules"`
	Token   tokenFile `yaml:"token"`
}

// lined is text with its line.
type lined struct {
	text string
	line int
}

// UnmarshalYAML takes text alone.
func (l *lined) UnmarshalYAML(n *yaml.Node) error {
	l.line = n.Line
	return n.Decode(&l.text)
}

type tokenFile struct {
	Key         string `yaml:"key"`
	JWKS        string `yaml:"jwks"`
	Audience    string `yaml:"audience"`
	Issuer      string `yaml:"issuer"`
	GroupsClaim string `yaml:"groups-claim"`
}

// ruleList are access.rules. The decoder is neither strict below here, nor does it see items that are empty.
type ruleList []access.Rule

// UnmarshalYAML takes a list of items with path and allow, both and nothing else.
func (l *ruleList) UnmarshalYAML(n *yaml.Node) error {
	n = behind(n)
	if n.Kind != yaml.SequenceNode {
		return wrongRule(n, "not a list of items with path and allow")
	}
	for _, item := range n.Content {
		r, err := parseRule(item)
		if err != nil {
			return err
		}
		*l = append(*l, r)
	}
	return nil
}

func parseRule(n *yaml.Node) (access.Rule, error) {
	n = behind(n)
	var item map[string]any
	if n.Kind != yaml.MappingNode {
		return access.Rule{}, wrongRule(n, "not an object with path and allow")
	}
	if err := n.Decode(&item); err != nil {
		return access.Rule{}, wrongRule(n, message(err))
	}
	for key := range item {
		if key != "path" && key != "allow" {
			return access.Rule{}, wrongRule(n, fmt.Sprintf("field %q is neither path nor allow", key))
		}
	}
	glob, ok := item["path"].(string)
	allow, given := item["allow"]
	if !ok || !given {
		return access.Rule{}, wrongRule(n, "path, a glob, and allow are both needed")
	}
	a, err := access.ParseRule(allow)
	if err != nil {
		return access.Rule{}, wrongRule(n, err.Error())
	}
	return access.Rule{Glob: glob, Access: a, At: access.Place{Line: n.Line}}, nil
}

// behind is what an alias stands for.
func behind(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func wrongRule(n *yaml.Node, text string) error { return wrong(n, "access.rules", text) }

func wrong(n *yaml.Node, setting, text string) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s: %s", n.Line, setting, text)}}
}

// pointers are lazy.pointers with the file of each.
func (f file) pointers(path string) []Pointer {
	for i := range f.Lazy.Pointers {
		f.Lazy.Pointers[i].At.Path = path
	}
	return f.Lazy.Pointers
}

// rules are access.rules with the file of each.
func (f file) rules(path string) []access.Rule {
	for i := range f.Access.Rules {
		f.Access.Rules[i].At.Path = path
	}
	return f.Access.Rules
}

// parse decodes one YAML document. The decoder's own messages carry the line.
func parse(path string, data []byte) (file, error) {
	var f file
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return file{}, fmt.Errorf("%w: %s: %s", ErrInvalid, path, message(err))
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return file{}, fmt.Errorf("%w: %s: holds more than one document", ErrInvalid, path)
	}
	return f, nil
}

// message puts the decoder's messages, one a line and in terms of Go types, into one line for people.
func message(err error) string {
	text := err.Error()
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		text = strings.Join(wrong.Errors, "; ")
	}
	return strings.NewReplacer(" in type config.file", "", " in type config.rules", "", " in type config.tokenFile", "", " in type config.s3File", "",
		" in type config.cacheFile", "", " in type config.lazyFile", "", "yaml: ", "").Replace(text)
}

// values holds what the file says, by the setting's key.
func (f file) values() map[string]string {
	return map[string]string{
		"chroma": f.Chroma, "collection": f.Collection, "site": f.Site, "store": f.Store, "snapshot": f.Snapshot,
		"blobs": f.Blobs, "s3-endpoint": f.S3.Endpoint, "s3-region": f.S3.Region, "s3-path-style": f.S3.PathStyle,
		"cache-dir": f.Cache.Dir, "cache-bytes": f.Cache.Bytes, "lazy-spec-bytes": f.Lazy.SpecBytes,
		"access-default": f.Access.Default.text, "url": f.URL, "format": f.Format,
		"token-key": f.Access.Token.Key, "token-jwks": f.Access.Token.JWKS, "token-audience": f.Access.Token.Audience,
		"token-issuer": f.Access.Token.Issuer, "token-groups-claim": f.Access.Token.GroupsClaim,
	}
}
