package token

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // an old key is what is refused
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

func isKeys(err error) bool { return errors.Is(err, ErrKeys) && !errors.Is(err, ErrInvalid) }

func der(t *testing.T, armoured []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(armoured)
	return block.Bytes
}

func certificate(t *testing.T, p pair) []byte {
	t.Helper()
	old := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(1, 0), NotAfter: time.Unix(2, 0)}
	data, err := x509.CreateCertificate(rand.Reader, old, old, p.public, p.private)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func armour(kind string, data []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data})
}

func TestKeyForms(t *testing.T) {
	if len(pairs()) == 0 {
		t.Fatal("no keys")
	}
	for alg, p := range pairs() {
		if alg == "HS256" {
			continue
		}
		public := spki(t, p.public)
		bare := base64.StdEncoding.EncodeToString(der(t, public))
		forms := map[string][]byte{
			"PEM":                 public,
			"PEM after text":      append([]byte("Public-Key: (256 bit)\n"), public...),
			"PEM, CRLF":           bytes.ReplaceAll(public, []byte("\n"), []byte("\r\n")),
			"DER":                 der(t, public),
			"base64":              []byte(bare),
			"base64 in lines":     []byte(bare[:30] + "\n" + bare[30:] + "\n"),
			"base64url unpadded":  []byte(base64.RawURLEncoding.EncodeToString(der(t, public))),
			"certificate":         armour("CERTIFICATE", certificate(t, p)),
			"certificate, in DER": certificate(t, p),
		}
		if alg == "RS256" {
			forms["PKCS#1"] = armour("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(p.public.(*rsa.PublicKey)))
		}
		for name, form := range forms {
			t.Run(alg+"/"+name, func(t *testing.T) {
				accepted(t, open(t, Options{Key: write(t, form)}), signed(t, alg, plain))
			})
		}
	}
}

// A file that isn't taken as a key must not become a secret instead, which everybody would know.
func TestRefusedKeys(t *testing.T) {
	p := pairs()
	r, e := p["RS256"].private.(*rsa.PrivateKey), p["ES256"].private.(*ecdsa.PrivateKey)
	public := spki(t, &r.PublicKey)
	small, err1 := rsa.GenerateKey(rand.Reader, 1024)
	p384, err2 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	x25519, err3 := ecdh.X25519().GenerateKey(rand.Reader)
	pkcs8, err4 := x509.MarshalPKCS8PrivateKey(p["EdDSA"].private)
	ec, err5 := x509.MarshalECPrivateKey(e)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	unknown := bytes.Replace(der(t, spki(t, p["EdDSA"].public)), []byte{0x2b, 0x65, 0x70}, []byte{0x2b, 0x65, 0x71}, 1) // Ed448
	long := &rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), maxRSA), big.NewInt(1)), E: 65537}
	cases := map[string]struct {
		data []byte
		hint string
	}{
		"empty":               {nil, "0 bytes"},
		"newline":             {[]byte("\n"), "0 bytes"},
		"short secret":        {secret[1:], "31 bytes"},
		"short but newline":   {append(slices.Clone(secret[1:]), '\n'), "31 bytes"},
		"private PKCS#8":      {armour("PRIVATE KEY", pkcs8), "private"},
		"private PKCS#1":      {armour("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(r)), "private"},
		"private EC":          {armour("EC PRIVATE KEY", ec), "private"},
		"private, encrypted":  {armour("ENCRYPTED PRIVATE KEY", pkcs8), "private"},
		"private, OpenSSH":    {armour("OPENSSH PRIVATE KEY", pkcs8), "private"},
		"private after cert":  {append(armour("CERTIFICATE", certificate(t, p["RS256"])), armour("PRIVATE KEY", pkcs8)...), "private"},
		"private, misnamed":   {armour("PUBLIC KEY", pkcs8), "private"},
		"private DER":         {x509.MarshalPKCS1PrivateKey(r), "private"},
		"private EC DER":      {ec, "private"},
		"private base64":      {[]byte(base64.StdEncoding.EncodeToString(pkcs8)), "private"},
		"two keys":            {append(slices.Clone(public), public...), "2 PEM blocks"},
		"broken PEM":          {public[:len(public)/2], "0 PEM blocks"},
		"PEM in UTF-16":       {wide(public), "0 PEM blocks"},
		"PEM on one line":     {bytes.ReplaceAll(public, []byte("\n"), []byte(`\n`)), "0 PEM blocks"},
		"other PEM":           {armour("CERTIFICATE REQUEST", []byte("nothing that is ASN.1, but long enough")), "no public key"},
		"DER and a newline":   {append(der(t, public), '\n'), "no public key"},
		"two in DER":          {append(der(t, public), der(t, public)...), "no public key"},
		"an unknown key, DER": {unknown, "no public key"},
		"key set":             {setOf(t, jwkOf(t, &r.PublicKey, "")), "--token-jwks"},
		"one JWK":             {[]byte(`  {"kty":"OKP","crv":"Ed25519","x":"broken`), "--token-jwks"},
		"JSON":                {[]byte(`{"public_key": "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A"}`), "--token-jwks"},
		"SSH":                 {[]byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN0= me@home"), "SSH"},
		"SSH, ECDSA":          {[]byte("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY= me"), "SSH"},
		"SSH, RFC 4716":       {[]byte("---- BEGIN SSH2 PUBLIC KEY ----\nAAAAB3NzaC1yc2E\n---- END SSH2 PUBLIC KEY ----\n"), "SSH"},
		"small RSA":           {spki(t, &small.PublicKey), "1024 bits"},
		"large RSA":           {spki(t, long), "8193 bits"},
		"exponent 1":          {armour("PUBLIC KEY", der(t, spki(t, &rsa.PublicKey{N: r.N, E: 1}))), "exponent"},
		"P-384":               {spki(t, &p384.PublicKey), "P-384"},
		"X25519":              {spki(t, x25519.PublicKey()), "ecdh"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := New(Options{Now: (&clock{}).now, Key: write(t, c.data)})
			if v != nil || !isKeys(err) || !strings.Contains(err.Error(), c.hint) {
				t.Errorf("%v; want %q", err, c.hint)
			}
		})
	}
	if _, err := publicKey(&dsa.PublicKey{}); err == nil {
		t.Error("DSA is taken")
	}
}

func wide(text []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// Secrets of random bytes are not mistaken for keys.
func TestRandomSecrets(t *testing.T) {
	source := mathrand.NewChaCha8([32]byte{}) // the same in every run: one in some hundred millions is mistaken
	for range 20_000 {
		data := make([]byte, minSecret)
		if _, err := source.Read(data); err != nil {
			t.Fatal(err)
		}
		data[0] = 0x30 // as DER begins
		if bytes.HasSuffix(data, []byte("\n")) {
			continue
		}
		if k, err := parseKey(data); err != nil || !bytes.Equal(k.value.([]byte), data) {
			t.Fatalf("%x: %v", data, err)
		}
	}
}
