// Package chroma keeps chunk records in a collection of a Chroma server, over the client of chroma-go.
//
// It talks to the server through that client's connection and credentials, with requests and decoders of its own:
// chroma-go's collections build an embedding function from what another client has stored with the collection, which
// can mean a download that no context ends, and refuse a whole answer for one record that they can't represent. No
// embedding is computed: every record has the same constant one, since Chroma demands it, unless it is the copy of one
// that has another.
package chroma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	chroma "github.com/amikos-tech/chroma-go/pkg/api/v2"

	"github.com/chromafs/chromafs/index"
)

// Store is an index.Store over one collection. It holds the collection by its id: when somebody drops the collection,
// all its methods fail with index.ErrNoCollection, even if one of that name is made again.
type Store struct {
	client *chroma.APIClientV2
	retry  *retry
	name   string
	// database is its path below the API's root.
	database string
	limits   limits

	collection atomic.Pointer[handle] // nil as long as there is none
	making     sync.Mutex
}

// handle is what the server says of the collection.
type handle struct {
	// path of the collection below the API's root.
	path      string
	embedding vector
}

var _ index.Store = (*Store)(nil)

// limits of one request.
type limits struct {
	// Records per request.
	read, write, remove int
	// text is the length of a $contains or a $regex in bytes.
	text int
	// shortest is the length in characters of the shortest text that can be found.
	shortest int
}

// Errors begin at 32,767 ids in a get, and at a $contains of 50,000 bytes, into which the server makes three of some bytes.
var ownServer = limits{read: 1000, write: 500, remove: 200, text: 16 << 10, shortest: 1}

// https://docs.trychroma.com/cloud/quotas-limits
var cloud = limits{read: 300, write: 300, remove: 200, text: 256, shortest: 3}

// Open opens a collection. If there is none and opts say so, the first write makes it. Nothing else is written. Errors
// wrap index.ErrNoCollection and index.ErrUnavailable.
func Open(ctx context.Context, opts Options) (*Store, error) {
	u, err := opts.validate()
	if err != nil {
		return nil, err
	}
	return open(ctx, opts, u, newRetry(shown(u), opts.Timeout))
}

func open(ctx context.Context, opts Options, u *url.URL, r *retry) (*Store, error) {
	r.hide(opts.Token, u.User)
	options := []chroma.ClientOption{
		chroma.WithBaseURL(u.String()),
		chroma.WithHTTPClient(&http.Client{Transport: r}),
		// Given both, chroma-go does not look at the environment.
		chroma.WithDatabaseAndTenant(opts.Database, opts.Tenant),
	}
	if opts.Token != "" {
		options = append(options, chroma.WithAuth(chroma.NewTokenAuthCredentialsProvider(opts.Token, chroma.XChromaTokenHeader)))
	}
	client, err := chroma.NewHTTPClient(options...)
	if err != nil {
		return nil, fmt.Errorf("chroma at %s: %s", r.server, r.excerpt(err.Error()))
	}
	api, ok := client.(*chroma.APIClientV2)
	if !ok {
		return nil, fmt.Errorf("chroma at %s: client is a %T", r.server, client)
	}
	s := &Store{
		client: api, retry: r, name: opts.Collection, limits: ownServer,
		database: "tenants/" + url.PathEscape(opts.Tenant) + "/databases/" + url.PathEscape(opts.Database),
	}
	if IsCloud(opts.URL) {
		s.limits = cloud
	}
	if err := s.find(ctx, opts.Create); err != nil {
		return nil, fmt.Errorf("open collection %q: %w", opts.Collection, err)
	}
	return s, nil
}

// IsCloud reports whether the server at a URL is Chroma Cloud, which has limits of its own.
func IsCloud(server string) bool {
	u, err := url.Parse(server)
	return err == nil && strings.HasSuffix("."+strings.ToLower(u.Hostname()), ".trychroma.com")
}

// find asks for the collection. There may be none if it may be made, but there must be the database.
func (s *Store) find(ctx context.Context, mayMake bool) error {
	body, err := s.send(ctx, http.MethodGet, s.database+"/collections/"+s.name, nil)
	if err == nil {
		return s.hold(body)
	}
	if !mayMake || !errors.Is(err, index.ErrNoCollection) {
		return err
	}
	if _, err = s.send(ctx, http.MethodGet, s.database, nil); errors.Is(err, index.ErrNoCollection) {
		// Not %w: nobody can make what is missing by writing.
		return fmt.Errorf("chroma at %s: no such tenant or database: %s", s.retry.server, err.Error())
	}
	return err
}

// make makes the collection, unless it is there. It must not have been made by somebody else meanwhile. A lost answer
// may look like that too, since the request is sent again.
func (s *Store) make(ctx context.Context) error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.collection.Load() != nil {
		return nil
	}
	// No configuration: a stored embedding function would be built by everybody who opens the collection.
	body, err := s.send(ctx, http.MethodPost, s.database+"/collections", map[string]any{"name": s.name, "get_or_create": false})
	if err != nil {
		return err
	}
	return s.hold(body)
}

func (s *Store) hold(body []byte) error {
	var found struct {
		ID        string `json:"id"`
		Dimension *int   `json:"dimension"`
	}
	if err := json.Unmarshal(body, &found); err != nil || found.ID == "" {
		return fmt.Errorf("the server at %s does not answer as Chroma does: %s", s.retry.server, s.retry.excerpt(string(body)))
	}
	s.collection.Store(&handle{
		path:      s.database + "/collections/" + url.PathEscape(found.ID),
		embedding: constant(found.Dimension),
	})
	return nil
}

// constant is the one embedding of all records: a unit vector, because some distances are not defined for zero. A
// collection without records takes its dimension from the first one.
func constant(dimension *int) vector {
	n := 1
	if dimension != nil && *dimension > 0 {
		n = *dimension
	}
	embedding := make(vector, n)
	embedding[0] = 1
	return embedding
}

// Count implements index.Store.
func (s *Store) Count(ctx context.Context) (int, error) {
	c := s.collection.Load()
	if c == nil {
		return 0, ctx.Err()
	}
	body, err := s.send(ctx, http.MethodGet, c.path+"/count", nil)
	if err != nil {
		return 0, fmt.Errorf("count records of %q: %w", s.name, err)
	}
	n, err := strconv.Atoi(string(body))
	if err != nil {
		return 0, fmt.Errorf("count records of %q: %w: answer %s", s.name, index.ErrCorrupt, s.retry.excerpt(string(body)))
	}
	return n, nil
}

// Batch implements index.Store: more records at once are hardly faster, and hold up readers for longer.
func (s *Store) Batch() int { return s.limits.write }

// Close implements index.Store. It closes idle connections.
func (s *Store) Close() error { return s.client.Close() }
