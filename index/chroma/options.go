package chroma

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// DefaultTimeout is Options.Timeout when it is 0. A server that drops a collection of 100,000 records answers nobody
// for 40 seconds.
const DefaultTimeout = 2 * time.Minute

// Options say which collection to open.
type Options struct {
	// URL of the server, http or https, without /api/v2. A user and password in it are sent as basic authentication.
	URL string
	// Collection is its name, by Chroma's rule for names.
	Collection string
	// Tenant and Database default to Chroma's own: default_tenant, default_database.
	Tenant, Database string
	// Token is sent as X-Chroma-Token; empty sends none.
	Token string
	// Create makes the collection, at the first write, when it does not exist; without it that is index.ErrNoCollection.
	Create bool
	// Timeout bounds one request together with its retries; 0 means DefaultTimeout.
	Timeout time.Duration
}

var nameShape = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$`)

// ValidateName returns an error that states Chroma's rule for the names of collections when name breaks it.
func ValidateName(name string) error {
	const is = "collection name %q: "
	if !nameShape.MatchString(name) {
		return fmt.Errorf(is+"not 3 to 512 letters, digits, dots, underscores and dashes of ASCII that begin and end with a letter or digit", name)
	}
	if strings.Contains(name, "..") {
		return fmt.Errorf(is+"two dots in a row", name)
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.Is4() {
		return fmt.Errorf(is+"an IP address", name)
	}
	return nil
}

// validate fills in defaults and returns the parsed URL.
func (o *Options) validate() (*url.URL, error) {
	if err := ValidateName(o.Collection); err != nil {
		return nil, err
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("timeout %s is negative", o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Tenant == "" {
		o.Tenant = "default_tenant"
	}
	if o.Database == "" {
		o.Database = "default_database"
	}
	return parseURL(o.URL)
}

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The error of url.Parse quotes the URL, with the password that may be in it.
		return nil, errors.New("chroma URL: not a URL")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, fmt.Errorf("chroma URL %q: not of the form http://HOST:PORT or https://HOST", shown(u))
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("chroma URL %q: has a query or a fragment", shown(u))
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/v2"), "/")
	u.RawPath = ""
	return u, nil
}

// shown is a URL as errors name it, without what may be secret.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
