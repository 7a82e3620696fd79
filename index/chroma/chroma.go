// Package chroma keeps chunk records in a collection of a Chroma server, over the client of chroma-go.
//
// It talks to the server through that client's connection and credentials, with requests and decoders of its own:
// chroma-go's collections build an embedding function from what another client has stored with the collection, which
// can mean a download that no context ends, and refuse a whole answer for one record that they can't represent. No
// embedding is computed: every record has the same constant one, since Chroma demands it.
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

	chroma "github.com/amikos-tech/chroma-go/pkg/api/v2"

	"github.com/chromafs/chromafs/index"
)

// Store is an index.Store over one collection. It holds the collection by its id: when somebody drops the collection,
// all its methods fail with index.ErrNoCollection, even if one of that name is made again.
type Store struct {
	client *chroma.APIClientV2
	retry  *retry
	name   string
	// path of the collection below the API's root.
	path      string
	embedding []float32
	limits    limits
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

// Open opens a collection, and makes it where opts say so. Nothing else is written. Errors wrap index.ErrNoCollection
// and index.ErrUnavailable.
func Open(ctx context.Context, opts Options) (*Store, error) {
	u, err := opts.validate()
	if err != nil {
		return nil, err
	}
	return open(ctx, opts, u, newRetry(u.Redacted(), opts.Timeout))
}

func open(ctx context.Context, opts Options, u *url.URL, r *retry) (*Store, error) {
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
		return nil, fmt.Errorf("chroma at %s: %w", u.Redacted(), err)
	}
	api, ok := client.(*chroma.APIClientV2)
	if !ok {
		return nil, fmt.Errorf("chroma at %s: client is a %T", u.Redacted(), client)
	}
	s := &Store{client: api, retry: r, name: opts.Collection, limits: ownServer}
	if isCloud(u) {
		s.limits = cloud
	}
	if err := s.find(ctx, opts); err != nil {
		return nil, fmt.Errorf("open collection %q: %w", opts.Collection, err)
	}
	return s, nil
}

func isCloud(u *url.URL) bool {
	return strings.HasSuffix("."+strings.ToLower(u.Hostname()), ".trychroma.com")
}

// find asks for the collection's id and dimension, and makes the collection if it may.
func (s *Store) find(ctx context.Context, opts Options) error {
	all := "tenants/" + url.PathEscape(opts.Tenant) + "/databases/" + url.PathEscape(opts.Database) + "/collections"
	body, err := s.send(ctx, http.MethodGet, all+"/"+s.name, nil)
	if errors.Is(err, index.ErrNoCollection) && opts.Create {
		// No configuration: a stored embedding function would be built by everybody who opens the collection.
		body, err = s.send(ctx, http.MethodPost, all, map[string]any{"name": s.name, "get_or_create": true})
	}
	if err != nil {
		return err
	}
	var found struct {
		ID        string `json:"id"`
		Dimension *int   `json:"dimension"`
	}
	if err := json.Unmarshal(body, &found); err != nil || found.ID == "" {
		return fmt.Errorf("the server at %s does not answer as Chroma does: %s", s.retry.server, excerpt(string(body)))
	}
	s.path = all + "/" + url.PathEscape(found.ID)
	s.embedding = constant(found.Dimension)
	return nil
}

// constant is the one embedding of all records: a unit vector, because some distances are not defined for zero. A
// collection without records takes its dimension from the first one.
func constant(dimension *int) []float32 {
	n := 1
	if dimension != nil && *dimension > 0 {
		n = *dimension
	}
	embedding := make([]float32, n)
	embedding[0] = 1
	return embedding
}

// Count implements index.Store.
func (s *Store) Count(ctx context.Context) (int, error) {
	body, err := s.send(ctx, http.MethodGet, s.path+"/count", nil)
	if err != nil {
		return 0, fmt.Errorf("count records of %q: %w", s.name, err)
	}
	n, err := strconv.Atoi(string(body))
	if err != nil {
		return 0, fmt.Errorf("count records of %q: %w: answer %s", s.name, index.ErrCorrupt, excerpt(string(body)))
	}
	return n, nil
}

// Batch implements index.Store: more records at once are hardly faster, and hold up readers for longer.
func (s *Store) Batch() int { return s.limits.write }

// Close implements index.Store. It closes idle connections.
func (s *Store) Close() error { return s.client.Close() }
