package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds one decoded value, aliases followed: a few of them may stand for more than memory holds.
const maxNodes = 10_000

var errNodes = fmt.Errorf("more than %d values", maxNodes)

// errTwice: a mapping has the same key twice.
func errTwice(key string) error { return fmt.Errorf("key %q is there twice: remove one", key) }

// mergeTag is what the parser gives to a plain "<<".
const mergeTag = "!!merge"

// keys gathers the keys of a mapping and of those merged into it. (The library's own decoder takes quadratic time.)
type keys struct {
	entries  map[string]entry
	done     map[*yaml.Node]bool
	repeated *yaml.Node // the first key that a mapping has twice
}

type entry struct {
	value *yaml.Node
	line  int
}

func (k *keys) add(n *yaml.Node) {
	n = target(n)
	if k.done[n] {
		return
	}
	k.done[n] = true
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			k.add(item)
		}
	case yaml.MappingNode:
		k.addMapping(n)
	}
}

// addMapping takes the mapping's own keys before the merged ones, which they override.
func (k *keys) addMapping(n *yaml.Node) {
	own := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		if n.Content[i].Tag == mergeTag {
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if own[key.Value] && k.repeated == nil {
			k.repeated = key
		}
		own[key.Value] = true
		if _, ok := k.entries[key.Value]; !ok {
			k.entries[key.Value] = entry{value, key.Line}
		}
	}
	for _, m := range merged {
		k.add(m)
	}
}

// target is the node that an alias stands for; an anchor is never on an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// yamlText is a scalar as written, and empty for all else.
func yamlText(n *yaml.Node) string {
	if n = target(n); n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// yamlValue decodes a node, as far as it is made of what JSON has too; numbers, and dates, stay as written.
func yamlValue(n *yaml.Node) (any, error) {
	d := yamlDecoder{left: maxNodes}
	return d.value(n)
}

type yamlDecoder struct{ left int }

func (d *yamlDecoder) value(n *yaml.Node) (any, error) {
	if d.left--; d.left < 0 {
		return nil, errNodes
	}
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.AliasNode:
		return d.value(n.Alias)
	case n.Kind == yaml.MappingNode && tag == "!!map":
		return d.mapping(n)
	case n.Kind == yaml.SequenceNode && tag == "!!seq":
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if list[i], err = d.value(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	case n.Kind != yaml.ScalarNode:
		return nil, fmt.Errorf("tag %s is not understood", tag)
	}
	return scalar(n)
}

func scalar(n *yaml.Node) (any, error) {
	switch tag := n.ShortTag(); tag {
	case "!!str", mergeTag:
		return n.Value, nil
	case "!!null":
		return nil, nil
	case "!!int", "!!float", "!!timestamp":
		return json.Number(n.Value), nil
	case "!!bool":
		if word := strings.ToLower(n.Value); word == "true" || word == "false" {
			return word == "true", nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", n.Value)
	default:
		return nil, fmt.Errorf("tag %s is not understood", tag)
	}
}

func (d *yamlDecoder) mapping(n *yaml.Node) (any, error) {
	object := make(map[string]any, len(n.Content)/2)
	var merged []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		value, err := d.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		key := target(n.Content[i])
		switch _, twice := object[key.Value]; {
		case n.Content[i].Tag == mergeTag:
			merged = append(merged, value)
			continue
		case key.Kind != yaml.ScalarNode:
			return nil, errors.New("a key that is no text")
		case twice:
			return nil, errTwice(key.Value)
		}
		object[key.Value] = value
	}
	for _, m := range merged {
		if err := merge(object, m); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// merge adds the keys that the object lacks, from a mapping or from a list of them, the first of which wins.
func merge(object map[string]any, from any) error {
	switch from := from.(type) {
	case []any:
		for _, item := range from {
			if err := merge(object, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range from {
			if _, ok := object[key]; !ok {
				object[key] = value
			}
		}
	default:
		return errors.New("<< of what is no mapping")
	}
	return nil
}
