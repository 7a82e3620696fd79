package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	deadline = 10 * time.Second // of one fetch
	fresh    = 5 * time.Minute  // a set is used so long before it is fetched again
	lasting  = time.Hour        // and so long if it can't be
	pause    = time.Minute      // between fetches for an unknown kid, or after a failed one while there are keys
	retry    = 10 * time.Second // after a failed fetch while there are none
)

// remote is a key set by URL. What the server says of caching does not count: a set is fetched for the first token, and
// again when it is no longer fresh, or when it lacks a token's kid. An answer that is a key set replaces the last one even
// if nothing in it can be used; any other is a failed fetch. Safe for concurrent use: one fetch at a time.
type remote struct {
	url      string
	named    string // for people: no password, no query
	client   *http.Client
	now      func() time.Time
	deadline time.Duration
	flights  singleflight.Group

	mu      sync.Mutex
	set     keySet
	fetched time.Time // when set was; zero: never
	tried   time.Time // when the last fetch ended; zero: never
	err     error     // of the last fetch
}

func isURL(s string) bool {
	scheme, _, found := strings.Cut(strings.ToLower(s), "://")
	return found && (scheme == "http" || scheme == "https")
}

func newRemote(o Options) (*remote, error) {
	u, err := url.Parse(o.JWKS)
	if err != nil {
		return nil, errors.New("the URL in --token-jwks can't be parsed")
	}
	named := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	local := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	switch {
	case u.Hostname() == "":
		return nil, errors.New("the URL in --token-jwks names no host")
	case u.Scheme != "https" && !local:
		return nil, fmt.Errorf("%s: keys are fetched by https only, but for those on localhost", named.String())
	}
	client := http.Client{}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = secureOnly
	return &remote{url: o.JWKS, named: named.String(), client: &client, now: o.Now, deadline: deadline}, nil
}

func secureOnly(r *http.Request, via []*http.Request) error {
	switch {
	case r.URL.Scheme != "https":
		return errors.New("redirected to what is not https")
	case len(via) > 5:
		return errors.New("redirected too often")
	}
	return nil
}

// get returns the set, which can be used, and is fetched first where it should be. Whoever waits for a fetch may leave by
// ctx without ending it for the others.
func (r *remote) get(ctx context.Context, kid string) (keySet, error) {
	if !r.due(kid) {
		return r.current()
	}
	background := context.WithoutCancel(ctx)
	done := r.flights.DoChan("", func() (any, error) {
		if r.due(kid) { // another fetch may have ended since
			set, err := r.fetch(background)
			r.keep(set, err)
		}
		return nil, nil
	})
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("fetch %s: %w", r.named, ctx.Err())
	case <-done:
		return r.current()
	}
}

// due reports whether the set is to be fetched now. With an empty kid that depends on its age alone.
func (r *remote) due(kid string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	after := fresh
	switch {
	case r.tried.IsZero():
		return true
	case r.fetched.IsZero():
		after = retry
	case r.err != nil || kid != "" && !r.set.has(kid):
		after = pause
	}
	return r.now().Sub(r.tried) >= after
}

func (r *remote) keep(set keySet, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried, r.err = r.now(), err
	if err == nil {
		r.set, r.fetched = set, r.tried
	}
}

func (r *remote) current() (keySet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.err
	if !r.fetched.IsZero() && r.now().Sub(r.fetched) < lasting {
		err = r.set.usable()
	} else if err == nil {
		err = errors.New("the keys are too old")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", r.named, err)
	}
	return r.set, nil
}

func (r *remote) fetch(ctx context.Context) (keySet, error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, errors.New("no URL to ask for")
	}
	response, err := r.client.Do(request)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return nil, failed.Err // without the URL, which may hold a secret
	} else if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %d", response.StatusCode)
	}
	data, err := readAll(response.Body)
	if err != nil {
		return nil, err
	}
	return parseSet(data, false)
}
