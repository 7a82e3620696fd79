package chroma

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	chromahttp "github.com/amikos-tech/chroma-go/pkg/commons/http"

	"github.com/chromafs/chromafs/index"
)

// chroma-go keeps only the text of an error of its transport. The error itself travels in a *failure, which is in the
// context of every request.
type failure struct{ err error }

type failureKey struct{}

// send makes one request with its retries; body is marshalled unless it is nil. Errors are the context's, or wrap
// index.ErrUnavailable or index.ErrNoCollection, or are what the server objects to.
func (s *Store) send(ctx context.Context, method, path string, body any) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var transport failure
	answer, err := s.client.ExecuteRequest(context.WithValue(ctx, failureKey{}, &transport), method, path, body)
	switch {
	case err == nil:
		return answer, nil
	case transport.err != nil:
		return nil, transport.err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	var refused *chromahttp.ChromaError
	if !errors.As(err, &refused) || refused.ErrorCode == 0 {
		return nil, fmt.Errorf("chroma at %s: %s", s.retry.server, s.retry.excerpt(err.Error()))
	}
	return nil, s.refusal(refused)
}

// refusal turns a 4xx into an error.
func (s *Store) refusal(e *chromahttp.ChromaError) error {
	switch {
	case e.ErrorCode == http.StatusNotFound && e.ErrorID == "NotFoundError":
		return fmt.Errorf("%w: %s", index.ErrNoCollection, s.retry.excerpt(e.Message))
	case e.ErrorCode == http.StatusNotFound:
		return fmt.Errorf("chroma at %s answered 404: not a Chroma server, or one older than 1.0", s.retry.server)
	case e.ErrorCode == http.StatusConflict:
		return fmt.Errorf("%w: %s", index.ErrChanged, s.retry.excerpt(e.Message))
	case e.ErrorCode == http.StatusUnauthorized || e.ErrorCode == http.StatusForbidden:
		return fmt.Errorf("chroma at %s denies access (%d): check token, tenant and database", s.retry.server, e.ErrorCode)
	}
	return fmt.Errorf("chroma at %s refused the request (%d): %s", s.retry.server, e.ErrorCode, s.retry.excerpt(e.Message))
}
