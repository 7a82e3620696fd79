package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func TestEveryAlgorithm(t *testing.T) {
	for alg := range pairs() {
		set := write(t, setOf(t, jwkOf(t, pairs()[alg].public, `{"kid":"a"}`)))
		for name, o := range map[string]Options{"key": {Key: file(t, alg)}, "set": {JWKS: set}} {
			v := open(t, o)
			if got := accepted(t, v, " "+signed(t, alg, plain)+"\n"); !slices.Equal(got.Groups, []string{"docs", "ops"}) {
				t.Errorf("%s %s: %q", alg, name, got.Groups)
			}
			for other := range pairs() {
				if other == alg {
					continue
				}
				if err := refused(t, v, signed(t, other, plain), ErrInvalid); !strings.Contains(err.Error(), "alg is "+other) {
					t.Error(err)
				}
			}
		}
	}
}

// No attack on the signature or the form passes, whatever the key is.
func TestAttacks(t *testing.T) {
	tokens := attacks(t)
	if len(tokens) == 0 {
		t.Fatal("no attacks")
	}
	for alg := range pairs() {
		v := open(t, Options{Key: file(t, alg)})
		set := open(t, Options{JWKS: write(t, setOf(t, jwkOf(t, pairs()[alg].public, `{"kid":"a"}`)))})
		for name, token := range tokens {
			t.Run(alg+"/"+name, func(t *testing.T) {
				refused(t, v, token, ErrInvalid)
				refused(t, set, token, ErrInvalid)
			})
		}
	}
}

func attacks(t *testing.T) map[string]string {
	t.Helper()
	tokens := map[string]string{
		"nothing":          "",
		"white space":      " \n",
		"dots":             "..",
		"words":            "not a token",
		"null":             encode("null") + "." + encode("null") + ".",
		"list":             encode("[]") + "." + encode("[]") + ".",
		"encrypted":        encode(`{"alg":"dir","enc":"A128GCM"}`) + "...." + encode("x"),
		"no alg":           encode(`{}`) + "." + encode(plain) + "." + encode("x"),
		"alg of no string": encode(`{"alg":["RS256"]}`) + "." + encode(plain) + "." + encode("x"),
	}
	for _, alg := range []string{"none", "None", "nOnE", "NONE", "", "hs256", "XX"} {
		token := encode(fmt.Sprintf(`{"alg":%q}`, alg)) + "." + encode(plain) + "."
		tokens["alg "+alg], tokens["alg "+alg+" with signature"] = token, token+encode("signature")
	}
	for alg, p := range pairs() {
		confusing(t, tokens, alg, p)
		bent(t, tokens, alg, signed(t, alg, plain))
		tokens[alg+" huge, signed"] = signed(t, alg, plain+strings.Repeat(" ", maxTokenBytes))
		for name, header := range map[string]string{
			"crit": `"crit":["exp"]`, "empty crit": `"crit":[]`, "zip": `"zip":"DEF"`, "nested": `"cty":"JWT"`,
			"alg twice": `"alg":"none"`, "kid of no string": `"kid":1`, "null kid": `"kid":null`,
		} {
			tokens[alg+" "+name] = sign(t, alg, p.private, fmt.Sprintf(`{"alg":%q,%s}`, alg, header), plain)
		}
	}
	return tokens
}

// confusing adds tokens that are signed with what everybody knows, or with a method that the key isn't for.
func confusing(t *testing.T, tokens map[string]string, alg string, p pair) {
	t.Helper()
	other := map[string][]string{"HS256": {"HS384", "HS512"}, "RS256": {"RS384", "RS512", "PS256", "PS512"}}
	for _, method := range other[alg] {
		tokens[alg+" key for "+method] = sign(t, method, p.private, fmt.Sprintf(`{"alg":%q}`, method), plain)
		tokens[method+" called "+alg] = sign(t, method, p.private, fmt.Sprintf(`{"alg":%q}`, alg), plain)
	}
	tokens["empty secret "+alg] = sign(t, "HS256", []byte{}, fmt.Sprintf(`{"alg":%q}`, alg), plain)
	tokens["empty secret"] = sign(t, "HS256", []byte{}, `{"alg":"HS256"}`, plain)
	tokens["kid is a path"] = sign(t, "HS256", []byte{}, `{"alg":"HS256","kid":"/dev/null"}`, plain)
	if alg == "HS256" {
		return
	}
	known := spki(t, p.public)
	block := strings.Split(string(known), "\n")
	der, err := base64.StdEncoding.DecodeString(strings.Join(block[1:len(block)-2], ""))
	if err != nil {
		t.Fatal(err)
	}
	for form, bytes := range map[string][]byte{
		"PEM": known, "trimmed PEM": []byte(strings.TrimSpace(string(known))), "DER": der, "JWK": setOf(t, jwkOf(t, p.public, "")),
	} {
		tokens[form+" of "+alg+" as secret"] = sign(t, "HS256", bytes, `{"alg":"HS256"}`, plain)
		tokens[form+" of "+alg+" as secret, alg kept"] = sign(t, "HS256", bytes, fmt.Sprintf(`{"alg":%q}`, alg), plain)
	}
	own := jwkOf(t, p.public, "")
	tokens[alg+" key in the header"] = sign(t, "HS256", []byte("k"), fmt.Sprintf(`{"alg":"HS256","jwk":{"kty":"oct","k":"aw"},"n":%q}`, own["kty"]), plain)
}

// bent adds what is left of a good token when somebody has changed it.
func bent(t *testing.T, tokens map[string]string, alg, good string) {
	t.Helper()
	s := strings.Split(good, ".")
	last := len(good) - 1
	digits := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	value := strings.IndexByte(digits, good[last])
	for name, token := range map[string]string{
		"other claims":     s[0] + "." + encode(strings.Replace(plain, "ops", "root", 1)) + "." + s[2],
		"other header":     encode(fmt.Sprintf(`{"alg":%q}`, alg)) + "." + s[1] + "." + s[2],
		"other signature":  s[0] + "." + s[1] + "." + encode(strings.Repeat("x", 64)),
		"no signature":     s[0] + "." + s[1] + ".",
		"two segments":     s[0] + "." + s[1],
		"four segments":    good + ".",
		"leading dot":      "." + good,
		"truncated":        good[:last],
		"padded":           good + "=",
		"spare bits":       good[:last] + digits[value^1:value^1+1],
		"newline inside":   good[:last] + "\n" + good[last:],
		"space inside":     s[0] + ". " + s[1] + "." + s[2],
		"standard base64":  s[0] + "." + s[1] + "." + strings.NewReplacer("-", "+", "_", "/").Replace(s[2]) + "+",
		"bearer":           "Bearer " + good,
		"huge":             good + strings.Repeat("A", maxTokenBytes),
		"NUL":              good + "\x00",
		"not ASCII":        good + "é",
		"twice":            good + good,
		"truncated claims": s[0] + "." + s[1][:len(s[1])-4] + "." + s[2],
	} {
		tokens[alg+" "+name] = token
	}
}

// With Ed25519 the last digit of a signature has spare bits: decoders that ignore them let one token have several texts.
func TestSpareBitsAreTried(t *testing.T) {
	good := signed(t, "EdDSA", plain)
	bad := map[string]string{}
	bent(t, bad, "EdDSA", good)
	a, err1 := base64.RawURLEncoding.DecodeString(strings.Split(good, ".")[2])
	b, err2 := base64.RawURLEncoding.DecodeString(strings.Split(bad["EdDSA spare bits"], ".")[2])
	if err1 != nil || err2 != nil || !slices.Equal(a, b) {
		t.Error("the attack changes the signature", err1, err2)
	}
}

// The secret is compared as the file has it, so that a token by hand agrees with it.
func TestSecretIsTheFile(t *testing.T) {
	for _, end := range []string{"", "\n", "\r\n"} {
		v := open(t, Options{Key: write(t, append(slices.Clone(secret), end...))})
		mac := hmac.New(sha256.New, secret)
		text := encode(`{"alg":"HS256"}`) + "." + encode(plain)
		mac.Write([]byte(text))
		accepted(t, v, text+"."+base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	}
	two := open(t, Options{Key: write(t, append(slices.Clone(secret), "\n\n"...))})
	refused(t, two, signed(t, "HS256", plain), ErrInvalid)
	accepted(t, two, sign(t, "HS256", append(slices.Clone(secret), '\n'), `{"alg":"HS256"}`, plain))
}

func TestIgnoredHeader(t *testing.T) {
	v := open(t, Options{Key: file(t, "ES256")})
	for _, more := range []string{
		`"typ":"at+jwt"`, `"typ":7`, `"kid":"anything"`, `"kid":""`, `"jku":"https://evil.test/keys"`, `"jwk":{"kty":"oct","k":"aw"}`,
		`"x5u":"file:///etc/passwd"`, `"x5c":["AA"]`,
	} {
		accepted(t, v, sign(t, "ES256", pairs()["ES256"].private, `{"alg":"ES256",`+more+`}`, plain))
	}
}

func TestDates(t *testing.T) {
	cases := []struct {
		claims string
		ok     bool
	}{
		{`"exp":1800000000`, true},
		{`"exp":1799999941`, true},
		{`"exp":1799999940`, false},
		{`"exp":1799999940.9`, false},
		{`"exp":1.8e9`, true},
		{`"exp":253402300799`, true},
		{`"exp":253402300800`, false},
		{`"exp":1800000300000`, false},
		{`"exp":1e300`, false},
		{`"exp":1e400`, false},
		{`"exp":0`, false},
		{`"exp":-1`, false},
		{`"exp":null`, false},
		{`"exp":"1800000300"`, false},
		{`"iss":"a"`, false},
		{`"exp":1800000300,"nbf":1800000060`, true},
		{`"exp":1800000300,"nbf":1800000061`, false},
		{`"exp":1800000300,"nbf":1e300`, false},
		{`"exp":1800000300,"nbf":1e19`, false},
		{`"exp":1800000300,"nbf":-1`, false},
		{`"exp":1800000300,"nbf":null`, false},
		{`"exp":1800000300,"nbf":0`, true},
		{`"exp":1800000300,"iat":1800000060`, true},
		{`"exp":1800000300,"iat":1800000061`, false},
		{`"exp":1800000300,"iat":1e300`, false},
		{`"exp":1800000300,"iat":"now"`, false},
		{`"exp":1800000300,"iat":1`, true},
	}
	v := open(t, Options{Key: file(t, "HS256")})
	for _, c := range cases {
		t.Run(c.claims, func(t *testing.T) { judge(t, v, signed(t, "HS256", "{"+c.claims+"}"), c.ok) })
	}
}

func judge(t *testing.T, v *Verifier, token string, ok bool) {
	t.Helper()
	if ok {
		accepted(t, v, token)
	} else {
		refused(t, v, token, ErrInvalid)
	}
}

func TestExpiryByTheClock(t *testing.T) {
	var c clock
	v := open(t, Options{Key: file(t, "EdDSA"), Now: c.now})
	token := signed(t, "EdDSA", `{"exp":1800000000}`)
	c.move(leeway - time.Nanosecond)
	accepted(t, v, token)
	c.move(time.Nanosecond)
	refused(t, v, token, ErrInvalid)
}

func TestAudienceAndIssuer(t *testing.T) {
	cases := []struct {
		audience, issuer, claims string
		hint                     string // in the error; "" accepts
	}{
		{"", "", ``, ""},
		{"", "", `,"aud":"docs"`, "--token-audience"},
		{"", "", `,"aud":[]`, "--token-audience"},
		{"", "", `,"aud":null`, "--token-audience"},
		{"docs", "", `,"aud":"docs"`, ""},
		{"docs", "", `,"aud":["shop","docs"]`, ""},
		{"docs", "", ``, "--token-audience"},
		{"docs", "", `,"aud":"Docs"`, "--token-audience"},
		{"docs", "", `,"aud":"docs shop"`, "--token-audience"},
		{"docs", "", `,"aud":[]`, "--token-audience"},
		{"docs", "", `,"aud":["docs",1]`, "aud"},
		{"docs", "", `,"aud":["shop"]`, "--token-audience"},
		{"docs", "", `,"aud":{"docs":true}`, "--token-audience"},
		{"", "", `,"iss":"anybody"`, ""},
		{"", "https://id.test/", `,"iss":"https://id.test/"`, ""},
		{"", "https://id.test/", `,"iss":"https://id.test"`, "--token-issuer"},
		{"", "https://id.test/", ``, "--token-issuer"},
		{"", "https://id.test/", `,"iss":["https://id.test/"]`, "iss"},
		{"", "https://id.test/", `,"iss":""`, "--token-issuer"},
	}
	key := file(t, "RS256")
	for _, c := range cases {
		v := open(t, Options{Key: key, Audience: c.audience, Issuer: c.issuer})
		token := signed(t, "RS256", `{"exp":1800000300`+c.claims+`}`)
		if c.hint == "" {
			accepted(t, v, token)
		} else if err := refused(t, v, token, ErrInvalid); !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%q %q %s: %v", c.audience, c.issuer, c.claims, err)
		}
	}
}

func TestGroups(t *testing.T) {
	many := strings.Repeat(`,"g"`, maxGroups)
	cases := []struct {
		claim, claims string
		want          []string
		ok            bool
	}{
		{"", ``, nil, true},
		{"", `,"groups":[]`, nil, true},
		{"", `,"groups":["a","b","a"]`, []string{"a", "b", "a"}, true},
		{"", `,"groups":"a, b c"`, []string{"a, b c"}, true},
		{"", `,"Groups":["a"]`, nil, true},
		{"", `,"groups":[` + many[1:] + `]`, slices.Repeat([]string{"g"}, maxGroups), true},
		{"", `,"groups":["h"` + many + `]`, nil, false},
		{"", `,"groups":null`, nil, false},
		{"", `,"groups":true`, nil, false},
		{"", `,"groups":7`, nil, false},
		{"", `,"groups":{"a":true}`, nil, false},
		{"", `,"groups":["a",7]`, nil, false},
		{"", `,"groups":["a",null]`, nil, false},
		{"", `,"groups":[["a"]]`, nil, false},
		{"", `,"groups":""`, nil, true},
		{"", `,"groups":["a","","b"]`, []string{"a", "b"}, true},
		{"", `,"groups":["*"]`, nil, false},
		{"", `,"groups":"*"`, nil, false},
		{"", `,"groups":["chromafs:none"]`, nil, false},
		{"", `,"groups":["a\u0000","b"]`, []string{"b"}, true},
		{"", `,"groups":["` + strings.Repeat("x", 128) + `"]`, []string{strings.Repeat("x", 128)}, true},
		{"", `,"groups":["` + strings.Repeat("x", 129) + `","b"]`, []string{"b"}, true},
		{"", `,"groups":["chromafs:` + strings.Repeat("x", 129) + `"]`, nil, false},
		{"", `,"groups":["","*"]`, nil, false},
		{"", `,"groups":["a"],"groups":["b"]`, nil, false},
		{"", `,"groups":["a"],"gr\u006fups":["b"]`, nil, false},
		{"", ",\"groups\":[\"\xff\"]", nil, false},
		{"", `,"x":{"a":1,"a":1}`, nil, false},
		{"", `,"groups":["a"]}{"groups":["b"]`, nil, false},
		{"roles", `,"groups":["a"]`, nil, true},
		{"realm_access.roles", `,"realm_access":{"roles":["a"]}`, []string{"a"}, true},
		{"realm_access.roles", `,"realm_access":{"roles":["a"]},"realm_access.roles":["b"]`, []string{"b"}, true},
		{"realm_access.roles", `,"realm_access":{"roles":["a"],"roles":["b"]}`, nil, false},
		{"realm_access.roles", `,"realm_access":{}`, nil, true},
		{"realm_access.roles", `,"realm_access":null`, nil, false},
		{"realm_access.roles", `,"realm_access":["roles"]`, nil, false},
		{"realm_access.roles", `,"realm_access":{"roles":null}`, nil, false},
		{"https://id.test/groups", `,"https://id.test/groups":["a"]`, []string{"a"}, true},
		{"https://id.test/groups", ``, nil, true},
		{"a..b", `,"a":{"":{"b":"c"}}`, []string{"c"}, true},
	}
	key := file(t, "EdDSA")
	for _, c := range cases {
		v := open(t, Options{Key: key, GroupsClaim: c.claim})
		token := signed(t, "EdDSA", `{"exp":1800000300`+c.claims+`}`)
		if !c.ok {
			refused(t, v, token, ErrInvalid)
		} else if got := accepted(t, v, token).Groups; !slices.Equal(got, c.want) {
			t.Errorf("%.80s: %.80q, want %.80q", c.claims, got, c.want)
		}
	}
}

func TestDeepClaims(t *testing.T) {
	v := open(t, Options{Key: file(t, "HS256")})
	for depth, ok := range map[int]bool{5_000: true, 12_000: false} {
		judge(t, v, signed(t, "HS256", `{"exp":1800000300,"x":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`), ok)
	}
}

func TestOptions(t *testing.T) {
	key, now := file(t, "HS256"), (&clock{}).now
	for name, o := range map[string]Options{
		"none":      {Now: now},
		"both":      {Now: now, Key: key, JWKS: key},
		"no clock":  {Key: key},
		"no file":   {Now: now, Key: key + "x"},
		"no set":    {Now: now, JWKS: key + "x"},
		"folder":    {Now: now, Key: t.TempDir()},
		"not a set": {Now: now, JWKS: key},
	} {
		if v, err := New(o); v != nil || !isKeys(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Options{Now: now, Key: key, JWKS: key}); !strings.Contains(err.Error(), "configuration file or the environment") {
		t.Error(err)
	}
	big := write(t, make([]byte, maxKeyBytes+1))
	if _, err := New(Options{Now: now, Key: big}); !isKeys(err) || !strings.Contains(err.Error(), big) {
		t.Error(err)
	}
	if _, err := os.Stat(key); err != nil {
		t.Error(err)
	}
}

// The library's own registry must know each algorithm that is offered here.
func TestAlgorithmsExist(t *testing.T) {
	for _, alg := range algorithms {
		if jwt.GetSigningMethod(alg) == nil {
			t.Error(alg)
		}
	}
}
