package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/golang-jwt/jwt/v5"
)

const (
	maxSet   = 100 // keys in a set
	maxTries = 16  // keys that one token is tried with
)

// keySet holds the keys of a set in its order, those with a flaw too.
type keySet []key

func readSet(path string) (keySet, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	set, err := parseSet(data, true)
	if err == nil {
		err = set.usable()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// parseSet reads a JWK Set. Keys that are not understood or not for verifying stay in it with their flaw, as RFC 7517 §5
// wants; so do secrets, unless they are allowed. A private key refuses the whole set: whoever can read it can sign.
func parseSet(data []byte, secrets bool) (keySet, error) {
	object, err := decodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("key set is %w", err)
	}
	members, ok := object["keys"].([]any)
	if !ok {
		return nil, errors.New(`no key set: {"keys": […]}`)
	}
	if len(members) > maxSet {
		return nil, fmt.Errorf("%d keys in the set, at most %d", len(members), maxSet)
	}
	set := make(keySet, len(members))
	for i, member := range members {
		j, _ := member.(map[string]any)
		kty, private := j["kty"], j["d"]
		if private != nil && kty != "oct" {
			return nil, fmt.Errorf("key %d of the set: %w", i+1, errPrivate)
		}
		set[i], err = jwk(j).key(secrets)
		if err != nil {
			set[i] = key{flaw: err.Error()}
		}
		set[i].kid, _ = j["kid"].(string)
	}
	return set, nil
}

// usable is an error unless something can be verified with the set.
func (s keySet) usable() error {
	if len(s) == 0 {
		return errors.New("the key set is empty")
	}
	if !slices.ContainsFunc(s, func(k key) bool { return k.flaw == "" }) {
		return fmt.Errorf("none of %d keys in the set can be used, the first of which is %s", len(s), s[0].flaw)
	}
	return nil
}

func (s keySet) has(kid string) bool {
	return slices.ContainsFunc(s, func(k key) bool { return k.kid == kid })
}

// fitting returns the keys that a token with this header may be signed with: those of its kid, which several may share,
// or all if it has none. It is an error if there is none, or too many to try.
func (s keySet) fitting(h header) ([]jwt.VerificationKey, error) {
	var fit []jwt.VerificationKey
	var other *key
	for i, k := range s {
		switch {
		case h.kid != "" && k.kid != h.kid && !k.anyKid:
		case k.alg == h.alg:
			fit = append(fit, k.value)
		default:
			other = &s[i]
		}
	}
	switch {
	case len(fit) > maxTries:
		return nil, fmt.Errorf("it fits %d keys, at most %d are tried: it needs a kid", len(fit), maxTries)
	case len(fit) > 0:
		return fit, nil
	case other == nil:
		return nil, fmt.Errorf("no key of the set that --token-jwks names has its kid, %.64q", h.kid)
	case h.kid != "" && other.flaw != "":
		return nil, fmt.Errorf("its kid names %s", other.flaw)
	}
	return nil, fmt.Errorf("its alg is %s, and no key in --token-key or --token-jwks is for that", h.alg)
}

// jwk is one member of a key set.
type jwk map[string]any

// key is an error, which says what the member is, unless it can verify tokens.
func (j jwk) key(secrets bool) (key, error) {
	k, err := j.material(secrets)
	if err != nil {
		return key{}, err
	}
	if use, given := j["use"]; given && use != "sig" {
		return key{}, fmt.Errorf("a key whose use is %s, not sig", quoted(use))
	}
	if alg, given := j["alg"]; given && alg != k.alg {
		return key{}, fmt.Errorf("a key whose alg is %s: of its kind only those for %s are taken", quoted(alg), k.alg)
	}
	if operations, given := j["key_ops"]; given {
		if list, _ := operations.([]any); !slices.Contains(list, any("verify")) {
			return key{}, errors.New("a key without verify among its key_ops")
		}
	}
	return k, nil
}

// material reads the members of RFC 7518 §6 and RFC 8037 §2.
func (j jwk) material(secrets bool) (key, error) {
	switch kty := j["kty"]; {
	case kty == "RSA":
		return j.rsa()
	case kty == "EC" && j["crv"] == "P-256":
		return j.ecdsa()
	case kty == "OKP" && j["crv"] == "Ed25519":
		if x := j.bytes("x"); len(x) == ed25519.PublicKeySize {
			return publicKey(ed25519.PublicKey(x))
		}
		return key{}, errors.New("an Ed25519 key without x of 32 bytes")
	case kty == "oct" && secrets:
		return secretKey(j.bytes("k"))
	case kty == "oct":
		return key{}, errors.New("a secret, which is not taken from a URL")
	case kty == "EC" || kty == "OKP":
		return key{}, fmt.Errorf("a key on the curve %s: it must be P-256 or Ed25519", quoted(j["crv"]))
	default:
		return key{}, fmt.Errorf("a key whose kty is %s: it must be RSA, EC, OKP or oct", quoted(kty))
	}
}

func (j jwk) rsa() (key, error) {
	n, e := j.bytes("n"), new(big.Int).SetBytes(j.bytes("e"))
	if e.BitLen() > 31 {
		return key{}, errors.New("an RSA key whose exponent has more than 31 bits")
	}
	return publicKey(&rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(e.Int64())})
}

func (j jwk) ecdsa() (key, error) {
	x, y := j.bytes("x"), j.bytes("y")
	if len(x) != 32 || len(y) != 32 {
		return key{}, errors.New("a P-256 key without x and y of 32 bytes each")
	}
	k, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return key{}, errors.New("a P-256 key whose point is not on the curve")
	}
	return publicKey(k)
}

func quoted(value any) string {
	text, ok := value.(string)
	if !ok {
		return "no text"
	}
	return fmt.Sprintf("%.64q", text)
}

// bytes is a member's value, nil if it isn't base64url.
func (j jwk) bytes(name string) []byte {
	text, _ := j[name].(string)
	data, err := strict.DecodeString(text)
	if err != nil {
		return nil
	}
	return data
}
