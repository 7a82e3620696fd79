package token

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	maxKeyBytes = 1 << 20 // of a file or an answer with keys
	minSecret   = 32      // bytes: RFC 7518 §3.2
	minRSA      = 2048    // bits: RFC 7518 §3.3
	maxRSA      = 8192    // bits: a larger one takes long to verify with
)

var errPrivate = errors.New("it is a private key: give the public key")

// key verifies tokens of one algorithm.
type key struct {
	kid    string
	anyKid bool   // it answers to every kid
	alg    string // empty: it has a flaw
	value  any    // as jwt's method for alg takes it
	flaw   string // why nothing can be verified with it
}

// readKey reads the file of one key.
func readKey(path string) (keySet, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	k, err := parseKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k.anyKid = true
	return keySet{k}, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxKeyBytes+1))
	if err == nil && len(data) > maxKeyBytes {
		err = fmt.Errorf("more than %d bytes", maxKeyBytes)
	}
	return data, err
}

// parseKey takes bytes for a secret only if they are no key in any form that people have keys in: whoever knows a public
// key could sign with it else.
func parseKey(data []byte) (key, error) {
	text := graphic(data)
	switch {
	case bytes.Contains(text, []byte("-----BEGIN")):
		return parsePEM(data)
	case isDER(data):
		return parseDER(data)
	case bytes.Contains(text, []byte(`"kty"`)) || bytes.HasPrefix(text, []byte("{")) && json.Valid(data):
		return key{}, errors.New("it is JSON: give a key set with --token-jwks")
	case bytes.HasPrefix(text, []byte("ssh-")) || bytes.HasPrefix(text, []byte("ecdsa-sha2-")) ||
		bytes.Contains(text, []byte("----BEGINSSH2")):
		return key{}, errors.New("it is a key as SSH has them: give it as PEM")
	}
	if der := unarmoured(text); isDER(der) {
		return parseDER(der)
	}
	secret, cut := bytes.CutSuffix(data, []byte("\n"))
	if cut {
		secret = bytes.TrimSuffix(secret, []byte("\r"))
	}
	return secretKey(secret)
}

// graphic is the text of a file without white space, whatever marks and zeros its encoding puts around ASCII.
func graphic(data []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, data)
}

// unarmoured decodes the inside of a PEM block without its lines of dashes, as some issuers show their key.
func unarmoured(text []byte) []byte {
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(string(text), "="))
	der, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return nil
	}
	return der
}

func parsePEM(data []byte) (key, error) {
	var found []*pem.Block
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return key{}, errPrivate
		}
		found = append(found, block)
	}
	if len(found) != 1 {
		return key{}, fmt.Errorf("%d PEM blocks can be read in it, not 1", len(found))
	}
	return parseDER(found[0].Bytes)
}

// isDER reports whether data is nothing but ASN.1 sequences of several members, which all keys and certificates are.
func isDER(data []byte) bool {
	for rest := data; len(bytes.TrimSpace(rest)) > 0; {
		var members []asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &members); err != nil || len(members) < 2 {
			return false
		}
	}
	return len(bytes.TrimSpace(data)) > 0
}

func parseDER(der []byte) (key, error) {
	value, err := x509.ParsePKIXPublicKey(der)
	if err == nil {
		return publicKey(value)
	}
	if value, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return publicKey(value)
	}
	if certificate, err := x509.ParseCertificate(der); err == nil {
		return publicKey(certificate.PublicKey)
	}
	if isPrivate(der) {
		return key{}, errPrivate
	}
	return key{}, fmt.Errorf("no public key or certificate that can be read: %w", err)
}

func isPrivate(der []byte) bool {
	_, pkcs8 := x509.ParsePKCS8PrivateKey(der)
	_, pkcs1 := x509.ParsePKCS1PrivateKey(der)
	_, ec := x509.ParseECPrivateKey(der)
	return pkcs8 == nil || pkcs1 == nil || ec == nil
}

// publicKey is the key for the one algorithm that its type allows.
func publicKey(value any) (key, error) {
	switch k := value.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA || bits > maxRSA {
			return key{}, fmt.Errorf("an RSA key of %d bits: it must have %d to %d", bits, minRSA, maxRSA)
		}
		if k.E < 3 || k.E%2 == 0 || k.N.Bit(0) == 0 {
			return key{}, errors.New("no RSA key: its exponent or modulus is impossible")
		}
		return key{alg: "RS256", value: k}, nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return key{}, fmt.Errorf("an ECDSA key on the curve %s: it must be P-256", k.Curve.Params().Name)
		}
		return key{alg: "ES256", value: k}, nil
	case ed25519.PublicKey:
		return key{alg: "EdDSA", value: k}, nil
	}
	return key{}, fmt.Errorf("a key of the type %T: it must be RSA, ECDSA on P-256 or Ed25519", value)
}

func secretKey(secret []byte) (key, error) {
	if len(secret) < minSecret {
		return key{}, fmt.Errorf("a secret of %d bytes: it must have at least %d", len(secret), minSecret)
	}
	return key{alg: "HS256", value: secret}, nil
}
