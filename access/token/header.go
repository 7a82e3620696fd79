package token

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// algorithms are the values of alg that any key here can verify.
var algorithms = []string{"HS256", "RS256", "ES256", "EdDSA"}

// strict refuses padding, and ends whose unused bits are set; it skips newlines, which split has refused.
var strict = base64.RawURLEncoding.Strict()

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// split returns the three segments of a token.
func split(token string) ([]string, error) {
	switch {
	case token == "":
		return nil, errors.New("it is empty")
	case len(token) > maxTokenBytes:
		return nil, fmt.Errorf("%d bytes, at most %d", len(token), maxTokenBytes)
	case strings.Trim(token, alphabet) != "":
		return nil, errors.New("not base64url, with dots between")
	}
	segments := strings.Split(token, ".")
	switch len(segments) {
	case 3:
		return segments, nil
	case 5:
		return nil, errors.New("it is encrypted (JWE): only signed tokens are taken")
	}
	return nil, fmt.Errorf("%d segments, not 3", len(segments))
}

// header is what counts in a JOSE header. All that would bring a key along (jku, jwk, x5u, x5c) is ignored.
type header struct{ alg, kid string }

func readHeader(segment string) (header, error) {
	names, err := decodeSegment(segment)
	if err != nil {
		return header{}, fmt.Errorf("its header is %w", err)
	}
	// RFC 7515 §4.1.11 asks to refuse extensions that are not understood, and forbids an empty crit; the others tell of a
	// content that is no set of claims.
	for _, name := range []string{"crit", "zip", "enc", "cty"} {
		if _, ok := names[name]; ok {
			return header{}, fmt.Errorf("its header has %s, which is not supported", name)
		}
	}
	alg, _ := names["alg"].(string)
	if !slices.Contains(algorithms, alg) {
		return header{}, fmt.Errorf("its alg is none of %s", strings.Join(algorithms, ", "))
	}
	kid, ok := names["kid"].(string)
	if _, given := names["kid"]; given && !ok {
		return header{}, errors.New("its kid is no text")
	}
	return header{alg, kid}, nil
}

func decodeSegment(segment string) (map[string]any, error) {
	data, err := strict.DecodeString(segment)
	if err != nil {
		return nil, errors.New("not base64url")
	}
	return decodeObject(data)
}
