package chroma

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// excerpt makes a line of about 300 bytes out of what a server says: without what a terminal would obey, and without the
// secrets that were sent, which some servers and proxies repeat.
func (r *retry) excerpt(s string) string {
	s = strings.ToValidUTF8(s, "�")
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, "[hidden]")
	}
	s = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if short := clip(s, 300); short != s {
		return short + "…"
	}
	return s
}

// hide notes what errors must not show: a token, a user with a password, and what of them a header holds.
func (r *retry) hide(token string, user *url.Userinfo) {
	password, _ := user.Password()
	basic := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
	r.secrets = []string{token, basic, password, user.Username()}
	for _, secret := range r.secrets {
		r.secrets = append(r.secrets, url.QueryEscape(secret), url.PathEscape(secret))
	}
	r.secrets = slices.DeleteFunc(r.secrets, func(s string) bool { return s == "" })
	// The longest first, in case one holds another.
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
}
