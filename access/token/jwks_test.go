package token

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

type skip struct {
	member map[string]any
	why    string
}

// skipped are members that can't verify a token, though most of them hold a key of the pairs.
func skipped(t *testing.T) map[string]skip {
	t.Helper()
	p := pairs()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	es := func(more string) map[string]any { return jwkOf(t, p["ES256"].public, more) }
	rs := func(more string) map[string]any { return jwkOf(t, p["RS256"].public, more) }
	ed := func(more string) map[string]any { return jwkOf(t, p["EdDSA"].public, more) }
	n := func(data ...byte) string { return fmt.Sprintf(`{"n":%q}`, base64.RawURLEncoding.EncodeToString(data)) }
	ones := bytes.Repeat([]byte{0xff}, 2000)
	return map[string]skip{
		"no object":        {nil, "kty is no text"},
		"kty of no string": {es(`{"kty":["EC"]}`), "kty is no text"},
		"unknown kty":      {map[string]any{"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"}, `"AKP"`},
		"other kty":        {es(`{"kty":"RSA"}`), "0 bits"},
		"kty in capitals":  {es(`{"kty":"ec"}`), `"ec"`},
		"P-384":            {jwkOf(t, &p384.PublicKey, ""), `"P-384"`},
		"called P-256":     {jwkOf(t, &p384.PublicKey, `{"crv":"P-256"}`), "32 bytes"},
		"crv Ed25519":      {es(`{"crv":"Ed25519"}`), `"Ed25519"`},
		"X25519":           {ed(`{"crv":"X25519"}`), `"X25519"`},
		"Ed25519, short":   {ed(`{"x":"AAAA"}`), "32 bytes"},
		"off the curve":    {es(`{"y":"` + strings.Repeat("A", 43) + `"}`), "not on the curve"},
		"no y":             {es(`{"y":null}`), "32 bytes"},
		"x padded":         {es(`{"x":"` + strings.Repeat("A", 43) + `="}`), "32 bytes"},
		"x, spare bits":    {es(`{"x":"` + strings.Repeat("A", 42) + `B"}`), "32 bytes"},
		"use enc":          {es(`{"use":"enc"}`), `use is "enc"`},
		"use null":         {es(`{"use":null}`), "use is no text"},
		"alg ES384":        {es(`{"alg":"ES384"}`), `alg is "ES384"`},
		"alg none":         {es(`{"alg":"none"}`), `alg is "none"`},
		"alg HS256":        {es(`{"alg":"HS256"}`), `alg is "HS256"`},
		"alg of no string": {es(`{"alg":1}`), "alg is no text"},
		"key_ops":          {es(`{"key_ops":["sign","encrypt"]}`), "key_ops"},
		"key_ops, empty":   {es(`{"key_ops":[]}`), "key_ops"},
		"key_ops, text":    {es(`{"key_ops":"verify"}`), "key_ops"},
		"short secret":     {jwkOf(t, secret[1:], ""), "31 bytes"},
		"secret, RS256":    {jwkOf(t, secret, `{"alg":"RS256"}`), `alg is "RS256"`},
		"secret, HS512":    {jwkOf(t, secret, `{"alg":"HS512"}`), `alg is "HS512"`},
		"RSA, PS256":       {rs(`{"alg":"PS256"}`), `alg is "PS256"`},
		"RSA, small":       {rs(n(ones[:255]...)), "2040 bits"},
		"RSA, even":        {rs(n(append(bytes.Clone(ones[:255]), 0xfe)...)), "modulus"},
		"RSA, huge":        {rs(n(ones...)), "16000 bits"},
		"RSA, no e":        {rs(`{"e":null}`), "exponent"},
		"RSA, e is 1":      {rs(`{"e":"AQ"}`), "exponent"},
		"RSA, e too large": {rs(`{"e":"_____w"}`), "31 bits"},
	}
}

func TestSkippedMembers(t *testing.T) {
	good := jwkOf(t, pairs()["RS256"].public, `{"kid":"good","use":"sig","alg":"RS256","key_ops":["verify"],"x5t":"AA"}`)
	for name, s := range skipped(t) {
		t.Run(name, func(t *testing.T) {
			if s.member != nil {
				s.member["kid"] = "bad"
			}
			_, err := New(Options{Now: (&clock{}).now, JWKS: write(t, setOf(t, s.member))})
			if !isKeys(err) || !strings.Contains(err.Error(), s.why) {
				t.Fatalf("alone: %v; want %q", err, s.why)
			}
			v := open(t, Options{JWKS: write(t, setOf(t, s.member, good))})
			accepted(t, v, signed(t, "RS256", plain))
			for alg, p := range pairs() {
				header := fmt.Sprintf(`{"alg":%q,"kid":"bad"}`, alg)
				err := refused(t, v, sign(t, alg, p.private, header, plain), ErrInvalid)
				if s.member != nil && !strings.Contains(err.Error(), s.why) {
					t.Errorf("%v; want %q", err, s.why)
				}
			}
		})
	}
}

func TestRefusedSets(t *testing.T) {
	es := pairs()["ES256"].public
	many := make([]map[string]any, maxSet+1)
	for i := range many {
		many[i] = jwkOf(t, es, "")
	}
	one := string(setOf(t, jwkOf(t, es, "")))
	for name, text := range map[string]string{
		"empty file":    "",
		"HTML":          "<html></html>",
		"empty object":  "{}",
		"a list":        "[" + one + "]",
		"keys null":     `{"keys":null}`,
		"keys object":   `{"keys":{}}`,
		"no keys":       `{"keys":[]}`,
		"one JWK":       one[9 : len(one)-2],
		"two sets":      one + one,
		"keys twice":    `{"keys":[],` + one[1:],
		"name twice":    strings.Replace(one, `"kty"`, `"kty":"oct","kty"`, 1),
		"case":          strings.Replace(one, `"keys"`, `"KEYS"`, 1),
		"PEM":           string(spki(t, es)),
		"too many keys": string(setOf(t, many...)),
		"private":       string(setOf(t, jwkOf(t, es, `{"d":"AAAA"}`))),
		"private RSA":   string(setOf(t, jwkOf(t, es, ""), jwkOf(t, pairs()["RS256"].public, `{"d":"AAAA"}`))),
		"not UTF-8":     strings.Replace(one, `"kty"`, "\"\xff\":1,\"kty\"", 1),
	} {
		path := write(t, []byte(text))
		if _, err := New(Options{Now: (&clock{}).now, JWKS: path}); !isKeys(err) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKid(t *testing.T) {
	p := pairs()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, Options{JWKS: write(t, setOf(t,
		jwkOf(t, &other.PublicKey, `{"kid":"a"}`),
		jwkOf(t, p["ES256"].public, `{"kid":"b"}`),
		jwkOf(t, p["RS256"].public, `{"kid":"c"}`),
		jwkOf(t, secret, `{"kid":"c"}`),
		jwkOf(t, &other.PublicKey, `{"kid":"twice"}`),
		jwkOf(t, p["ES256"].public, `{"kid":"twice"}`),
		jwkOf(t, p["EdDSA"].public, ``),
	))})
	cases := []struct {
		alg, kid string
		ok       bool
	}{
		{"ES256", `"b"`, true},
		{"ES256", `"a"`, false},
		{"ES256", `"c"`, false},
		{"ES256", `"B"`, false},
		{"ES256", `"b\u0000"`, false},
		{"ES256", `"../b"`, false},
		{"ES256", `"twice"`, true},
		{"RS256", `"c"`, true},
		{"HS256", `"c"`, true},
		{"HS256", `"b"`, false},
		{"EdDSA", `"d"`, false},
		{"EdDSA", `""`, true},
		{"ES256", `""`, true},
	}
	for _, c := range cases {
		t.Run(c.alg+c.kid, func(t *testing.T) {
			judge(t, v, sign(t, c.alg, p[c.alg].private, fmt.Sprintf(`{"alg":%q,"kid":%s}`, c.alg, c.kid), plain), c.ok)
		})
	}
	for alg := range p {
		accepted(t, v, signed(t, alg, plain))
	}
	long := fmt.Sprintf(`{"alg":"ES256","kid":%q}`, strings.Repeat("k", 9_000))
	if err := refused(t, v, sign(t, "ES256", p["ES256"].private, long, plain), ErrInvalid); len(err.Error()) > 300 {
		t.Errorf("%d bytes of error", len(err.Error()))
	}
}

// A token without a kid is tried with every key that fits, but not with any number of them.
func TestTries(t *testing.T) {
	for n, ok := range map[int]bool{maxTries: true, maxTries + 1: false} {
		var members []map[string]any
		for i := range n - 1 {
			k := base64.RawURLEncoding.EncodeToString(append([]byte{byte(i)}, secret...))
			members = append(members, map[string]any{"kty": "oct", "k": k})
		}
		members = append(members, jwkOf(t, secret, `{"kid":"last"}`))
		v := open(t, Options{JWKS: write(t, setOf(t, members...))})
		judge(t, v, signed(t, "HS256", plain), ok)
		accepted(t, v, sign(t, "HS256", secret, `{"alg":"HS256","kid":"last"}`, plain))
	}
}
