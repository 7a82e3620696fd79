package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// decodeObject decodes one JSON object. It refuses what readers of JSON understand differently: a name given twice in an
// object (RFC 7519 §4 allows to), and bytes that are not UTF-8, for which Go would put U+FFFD.
func decodeObject(data []byte) (map[string]any, error) {
	var object map[string]any
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		return nil, errors.New("not a JSON object")
	}
	return object, unique(json.NewDecoder(bytes.NewReader(data)))
}

// unique reads one value, which is known to be JSON and so no deeper than encoding/json allows.
func unique(d *json.Decoder) error {
	start, err := d.Token()
	if _, nested := start.(json.Delim); err != nil || !nested {
		return err
	}
	names := map[any]bool{}
	for d.More() {
		if start == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if names[name] {
				return fmt.Errorf("ambiguous: it has the name %.64q twice", name)
			}
			names[name] = true
		}
		if err := unique(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
