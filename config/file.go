package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file is chromafs.yaml.
type file struct {
	Docs       string   `yaml:"docs"`
	Chroma     string   `yaml:"chroma"`
	Collection string   `yaml:"collection"`
	Site       string   `yaml:"site"`
	Store      string   `yaml:"store"`
	Snapshot   string   `yaml:"snapshot"`
	URL        string   `yaml:"url"`
	Format     string   `yaml:"format"`
	Include    []string `yaml:"include"`
	Exclude    []string `yaml:"exclude"`
	Access     rules    `yaml:"access"`
}

// rules are the settings of access.
type rules struct {
	Default string `yaml:"default"`
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
	return strings.NewReplacer(" in type config.file", "", " in type config.rules", "", "yaml: ", "").Replace(text)
}

// values holds what the file says, by the setting's key.
func (f file) values() map[string]string {
	return map[string]string{
		"chroma": f.Chroma, "collection": f.Collection, "site": f.Site, "store": f.Store, "snapshot": f.Snapshot,
		"access-default": f.Access.Default, "url": f.URL, "format": f.Format,
	}
}
