package token

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chromafs/chromafs/access"
)

const (
	start = 1_800_000_000 // what clocks show, in seconds since 1970
	plain = `{"exp":1800000300,"groups":["docs","ops"]}`
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// pairs are one key for each algorithm, and the private half that signs with it.
var pairs = sync.OnceValue(func() map[string]pair {
	r, err1 := rsa.GenerateKey(rand.Reader, 2048)
	e, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, ed, err3 := ed25519.GenerateKey(rand.Reader)
	if err := errors.Join(err1, err2, err3); err != nil {
		panic(err)
	}
	return map[string]pair{
		"HS256": {secret, secret},
		"RS256": {r, r.Public()},
		"ES256": {e, e.Public()},
		"EdDSA": {ed, ed.Public()},
	}
})

type pair struct{ private, public any }

// sign makes a token of any header and payload, with the method that goes by alg, whatever the header says.
func sign(t testing.TB, alg string, private any, header, payload string) string {
	t.Helper()
	text := encode(header) + "." + encode(payload)
	signature, err := jwt.GetSigningMethod(alg).Sign(text, private)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// signed is a good token by one of the pairs, but for its payload.
func signed(t testing.TB, alg, payload string) string {
	t.Helper()
	return sign(t, alg, pairs()[alg].private, fmt.Sprintf(`{"alg":%q,"typ":"JWT"}`, alg), payload)
}

func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// file holds a pair's public half, as Options.Key wants it.
func file(t testing.TB, alg string) string {
	t.Helper()
	if alg == "HS256" {
		return write(t, secret)
	}
	return write(t, spki(t, pairs()[alg].public))
}

func spki(t testing.TB, public any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// jwkOf is a member of a key set; more is members to add or replace, in JSON.
func jwkOf(t testing.TB, public any, more string) map[string]any {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString
	var j map[string]any
	switch k := public.(type) {
	case []byte:
		j = map[string]any{"kty": "oct", "k": text(k)}
	case *rsa.PublicKey:
		j = map[string]any{"kty": "RSA", "n": text(k.N.Bytes()), "e": "AQAB"}
	case ed25519.PublicKey:
		j = map[string]any{"kty": "OKP", "crv": "Ed25519", "x": text(k)}
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		half := len(point) / 2
		j = map[string]any{"kty": "EC", "crv": k.Params().Name, "x": text(point[1 : 1+half]), "y": text(point[1+half:])}
	}
	if more != "" {
		if err := json.Unmarshal([]byte(more), &j); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func setOf(t testing.TB, members ...map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"keys": members})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t testing.TB, o Options) *Verifier {
	t.Helper()
	if o.Now == nil {
		o.Now = (&clock{}).now
	}
	v, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// clock is safe for concurrent use and stands still until it is moved.
type clock struct {
	mu    sync.Mutex
	after time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(start, 0).Add(c.after)
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.after += d
}

// refused checks that a token makes nobody, with an error of the kind that gives none of it away.
func refused(t *testing.T, v *Verifier, token string, kind error) error {
	t.Helper()
	viewer, err := v.Viewer(context.Background(), token)
	if !errors.Is(err, kind) || kind == ErrKeys && errors.Is(err, ErrInvalid) {
		t.Fatalf("%v, %+v; want %v", err, viewer, kind)
	}
	if viewer.SignedIn || viewer.Operator || viewer.Groups != nil {
		t.Fatalf("refused, and still %+v", viewer)
	}
	for segment := range strings.SplitSeq(token, ".") {
		if len(segment) > 24 && strings.Contains(err.Error(), segment) {
			t.Fatalf("token in the error: %v", err)
		}
	}
	if bytes.Contains([]byte(err.Error()), secret) {
		t.Fatalf("secret in the error: %v", err)
	}
	return err
}

func accepted(t *testing.T, v *Verifier, token string) access.Viewer {
	t.Helper()
	viewer, err := v.Viewer(context.Background(), token)
	if err != nil {
		t.Fatal(err)
	}
	if !viewer.SignedIn || viewer.Operator {
		t.Fatalf("%+v", viewer)
	}
	return viewer
}
