package token

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chromafs/chromafs/access"
)

// fixed is a pair that is the same in every run, so that what a fuzzer found once can be tried again.
func fixed() pair {
	private := ed25519.NewKeyFromSeed(secret)
	return pair{private, private.Public()}
}

func fixedVerifier(t testing.TB) *Verifier {
	t.Helper()
	return open(t, Options{Key: write(t, spki(t, fixed().public)), GroupsClaim: "realm.roles"})
}

// Whatever the token is: it is refused, or its signature is by the key.
func FuzzViewer(f *testing.F) {
	good := sign(f, "EdDSA", fixed().private, `{"alg":"EdDSA"}`, plain)
	for _, seed := range []string{
		good, " " + good + "\n", good[:40], good + "=", "", "..", strings.Repeat(".", 100), encode(`{"alg":"none"}`) + "." + encode(plain) + ".",
		sign(f, "HS256", secret, `{"alg":"HS256"}`, plain), "Bearer " + good, encode("null") + "." + encode("null") + "." + encode("null"),
		sign(f, "HS256", secret, `{"alg":"EdDSA","kid":"é"}`, plain),
	} {
		f.Add(seed)
	}
	v := fixedVerifier(f)
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Viewer(context.Background(), token); err != nil {
			refused(t, v, token, ErrInvalid)
			return
		}
		s := strings.Split(strings.TrimSpace(token), ".")
		signature, err := base64.RawURLEncoding.DecodeString(s[len(s)-1])
		if err != nil || len(s) != 3 || !ed25519.Verify(fixed().public.(ed25519.PublicKey), []byte(s[0]+"."+s[1]), signature) {
			t.Errorf("%q is taken", token)
		}
	})
}

// Whatever the issuer signs: it is refused, or its time has come and its names are those that it plainly lists.
func FuzzClaims(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"alg":"EdDSA"}`, plain},
		{`{"alg":"EdDSA","kid":"k","typ":1}`, `{"exp":1800000300,"realm":{"roles":["a","b"]}}`},
		{`{"alg":"EdDSA"}`, `{"exp":1800000300,"realm":{"roles":["*"]}}`},
		{`{"alg":"EdDSA"}`, `{"exp":1800000300,"realm.roles":"a","realm":{}}`},
		{`{"alg":"EdDSA"}`, `{"exp":1e300,"nbf":1e300}`},
		{`{"alg":"EdDSA"}`, `{"exp":1800000300,"exp":1}`},
		{`{"alg":"EdDSA","crit":[]}`, plain},
		{`null`, `null`},
		{`{"alg":"EdDSA"}`, `{"exp":1800000300,"aud":"x"} x`},
		{`{"alg":"EdDSA"}`, `{"exp":1800000300,"realm":{"roles":["\ud800"]}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	v := fixedVerifier(f)
	f.Fuzz(func(t *testing.T, header, payload string) {
		token := sign(t, "EdDSA", fixed().private, header, payload)
		viewer, err := v.Viewer(context.Background(), token)
		if err != nil {
			refused(t, v, token, ErrInvalid)
			return
		}
		var h, claims map[string]any
		if err := errors.Join(json.Unmarshal([]byte(header), &h), json.Unmarshal([]byte(payload), &claims)); err != nil {
			t.Fatal(err)
		}
		exp, _ := claims["exp"].(float64)
		nbf, _ := claims["nbf"].(float64)
		iat, _ := claims["iat"].(float64)
		late := float64(start + leeway/time.Second + 1) // the parser drops fractions
		if h["crit"] != nil || h["zip"] != nil || h["cty"] != nil || claims["aud"] != nil || exp+60 <= start || nbf >= late || iat >= late {
			t.Errorf("%s %s is taken", header, payload)
		}
		if _, err := access.Member(viewer.Groups); err != nil || !viewer.SignedIn || viewer.Operator {
			t.Errorf("%+v: %v", viewer, err)
		}
	})
}

// Whatever is in a key file: a key that is taken works without a panic, and a secret is no key in text.
func FuzzKeys(f *testing.F) {
	public := spki(f, fixed().public)
	for _, seed := range [][]byte{
		nil, secret, public, public[:60], setOf(f, jwkOf(f, fixed().public, "")), setOf(f, jwkOf(f, secret, `{"kid":"a"}`)),
		setOf(f, jwkOf(f, pairs()["RS256"].public, `{"e":"Aw","n":"____"}`)), []byte(`{"keys":[null,1,{"kty":"EC","crv":"P-256","x":"","y":""}]}`),
		[]byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINVcr7C6dF2sXlqAc1xw2q4AXQ== me@home"),
	} {
		f.Add(seed)
	}
	text := encode(`{"alg":"x"}`) + "." + encode(plain)
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := parseSet(data, true)
		if err != nil {
			set = nil
		}
		if k, err := parseKey(data); err == nil {
			if k.alg == "HS256" && (bytes.Contains(data, []byte("-----BEGIN")) || len(set) > 0) {
				t.Errorf("%q is taken for a secret", data)
			}
			set = append(set, k)
		}
		for _, k := range set {
			if (k.flaw == "") != (k.alg != "") {
				t.Errorf("%+v", k)
			}
			if k.flaw == "" && jwt.GetSigningMethod(k.alg).Verify(text, make([]byte, 64), k.value) == nil {
				t.Errorf("a signature of zeros is by %+v", k)
			}
		}
	})
}
