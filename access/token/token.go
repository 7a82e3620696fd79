// Package token turns a JWT (RFC 7519) into the viewer it stands for. The key decides the algorithm, never the token. A
// token that is not understood in full is refused: it never makes an anonymous viewer, nor an operator.
package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chromafs/chromafs/access"
)

// ErrInvalid is wrapped by every error about a token, and ErrKeys by those about what it is verified with: a file that
// can't be read, a key that can't be used, a set that can't be fetched. No error holds a token or a secret.
var (
	ErrInvalid = errors.New("invalid token")
	ErrKeys    = errors.New("token keys")
)

const (
	leeway        = 60 * time.Second // of clock skew, for exp, nbf and iat
	maxTokenBytes = 64 << 10
)

// Options say how tokens are verified. Exactly one of Key and JWKS is given, and Now always.
type Options struct {
	// Key is a file with one public key or certificate (whose dates don't count) in PEM or DER, or with a secret of at
	// least 32 bytes (RFC 7518 §3.2), which is the file's bytes less one newline at its end. A kid in the token is ignored.
	Key string
	// JWKS is a key set (RFC 7517): a file, or an https URL, or an http one on localhost, 127.0.0.1 or [::1].
	JWKS string
	// Audience must be among the token's. Without one, a token for any audience is refused (RFC 7519 §4.1.3).
	Audience string
	// Issuer must be the token's; "" takes any.
	Issuer string
	// GroupsClaim names the claim that lists groups, "groups" if empty. What is no claim's name as it stands is a path
	// through objects, with dots: realm_access.roles.
	GroupsClaim string
	// Now is the time. It is called concurrently.
	Now func() time.Time
	// Client fetches a key set; nil is one with http.DefaultTransport. Its CheckRedirect is not used.
	Client *http.Client
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options Options
	parser  *jwt.Parser
	local   keySet
	remote  *remote // nil: local
}

// New reads and checks the key or the key set, but fetches nothing: a URL is fetched for the first token. Its errors wrap
// ErrKeys.
func New(o Options) (*Verifier, error) {
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	v := &Verifier{options: o, parser: newParser(o)}
	var err error
	switch {
	case o.Now == nil:
		err = errors.New("no clock")
	case o.Key == "" && o.JWKS == "":
		err = errors.New("give either --token-key or --token-jwks")
	case o.Key != "" && o.JWKS != "":
		err = errors.New("both --token-key and --token-jwks are set, one of them maybe in the configuration file or the environment: keep one")
	case o.Key != "":
		v.local, err = readKey(o.Key)
	case isURL(o.JWKS):
		v.remote, err = newRemote(o)
	default:
		v.local, err = readSet(o.JWKS)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return v, nil
}

func newParser(o Options) *jwt.Parser {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(algorithms), jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(o.Now), jwt.WithLeeway(leeway), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
	}
	if o.Audience != "" {
		options = append(options, jwt.WithAudience(o.Audience))
	}
	if o.Issuer != "" {
		options = append(options, jwt.WithIssuer(o.Issuer))
	}
	return jwt.NewParser(options...)
}

// Viewer verifies a token in its compact form (RFC 7515 §7.1), white space around it aside, and returns the member of its
// groups; without the claim that is a signed-in viewer of no group. Errors wrap ErrInvalid, or ErrKeys where the keys are
// at fault. It may wait for a fetch, and ctx ends that wait.
func (v *Verifier) Viewer(ctx context.Context, token string) (access.Viewer, error) {
	token = strings.TrimSpace(token)
	segments, err := split(token)
	if err != nil {
		return access.Viewer{}, invalid(err)
	}
	h, err := readHeader(segments[0])
	if err != nil {
		return access.Viewer{}, invalid(err)
	}
	keys, err := v.keys(ctx, h)
	if err != nil {
		return access.Viewer{}, err
	}
	_, err = v.parser.Parse(token, func(*jwt.Token) (any, error) { return jwt.VerificationKeySet{Keys: keys}, nil })
	if err != nil {
		return access.Viewer{}, invalid(v.explain(err))
	}
	viewer, err := v.member(segments[1])
	if err != nil {
		return access.Viewer{}, invalid(err)
	}
	return viewer, nil
}

func invalid(err error) error { return fmt.Errorf("%w: %w", ErrInvalid, err) }

// keys are those that may verify a token with this header; there is at least one.
func (v *Verifier) keys(ctx context.Context, h header) ([]jwt.VerificationKey, error) {
	set := v.local
	if v.remote != nil {
		var err error
		if set, err = v.remote.get(ctx, h.kid); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeys, err)
		}
	}
	keys, err := set.fitting(h)
	if err != nil {
		return nil, invalid(err)
	}
	return keys, nil
}

// explain puts into words, and into settings, which check of the parser failed. Its own words may quote the token.
func (v *Verifier) explain(err error) error {
	for _, failed := range []struct {
		check error
		words string
	}{
		{jwt.ErrTokenMalformed, "not base64url of JSON objects"},
		{jwt.ErrTokenSignatureInvalid, "its signature is not by the given key: see --token-key and --token-jwks"},
		{jwt.ErrTokenUnverifiable, "its signature can't be verified"},
		{jwt.ErrInvalidType, "exp, nbf or iat is not a number, aud is no text or list of texts, or iss is no text"},
		{jwt.ErrTokenExpired, "it has expired"},
		{jwt.ErrTokenNotValidYet, "it is not valid yet (nbf)"},
		{jwt.ErrTokenUsedBeforeIssued, "it was issued in the future (iat)"},
		{jwt.ErrTokenInvalidAudience, fmt.Sprintf("it is not for the audience %q, which --token-audience asks for", v.options.Audience)},
		{jwt.ErrTokenInvalidIssuer, fmt.Sprintf("it is not from the issuer %q, which --token-issuer asks for", v.options.Issuer)},
		{jwt.ErrTokenRequiredClaimMissing, "it lacks exp, or aud or iss, which --token-audience and --token-issuer ask for"},
	} {
		if errors.Is(err, failed.check) {
			return errors.New(failed.words)
		}
	}
	return errors.New("refused")
}
