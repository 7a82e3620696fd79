package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/chromafs/chromafs/blob"
)

// codes are the errors that S3 has names for.
var codes = map[string]error{
	"NoSuchKey": blob.ErrNotFound, "NoSuchBucket": blob.ErrNotFound, "NoSuchVersion": blob.ErrNotFound, "NotFound": blob.ErrNotFound,
	"NoSuchUpload": blob.ErrUnavailable,
	"AccessDenied": blob.ErrDenied, "Forbidden": blob.ErrDenied, "InvalidAccessKeyId": blob.ErrDenied, "SignatureDoesNotMatch": blob.ErrDenied,
	"ExpiredToken": blob.ErrDenied, "InvalidToken": blob.ErrDenied, "AllAccessDisabled": blob.ErrDenied, "AccountProblem": blob.ErrDenied,
	"PreconditionFailed": blob.ErrChanged, "ConditionalRequestConflict": blob.ErrChanged,
	"PermanentRedirect": blob.ErrRegion, "AuthorizationHeaderMalformed": blob.ErrRegion, "IllegalLocationConstraintException": blob.ErrRegion,
	"RequestTimeTooSkewed": blob.ErrClock, "RequestExpired": blob.ErrClock,
}

// statuses are what an answer without a name means. Only S3 itself can say that there is no object; of an answer to HEAD the SDK makes
// NotFound and Forbidden.
var statuses = map[int]error{
	http.StatusUnauthorized: blob.ErrDenied, http.StatusForbidden: blob.ErrDenied,
	http.StatusPreconditionFailed: blob.ErrChanged, http.StatusConflict: blob.ErrChanged,
	http.StatusMovedPermanently: blob.ErrRegion, http.StatusTemporaryRedirect: blob.ErrRegion, http.StatusPermanentRedirect: blob.ErrRegion,
}

// noRefusal are statuses of a server that is not to be reached, or not now.
var noRefusal = []int{http.StatusNotFound, http.StatusTooManyRequests, http.StatusRequestTimeout}

// fail makes err one about an object. Of what the server said it takes the status and the name of the error alone: the
// rest may repeat the request.
func (b *Bucket) fail(ctx context.Context, key string, err error) error {
	var known *blob.Error
	var content *contentError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &content):
		return content.error
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errCredentials):
		return &blob.Error{URI: b.URI(key), Err: blob.ErrDenied, Detail: errCredentials.Error()}
	}
	out := &blob.Error{URI: b.URI(key), Err: blob.ErrUnavailable}
	var answer *smithyhttp.ResponseError
	var api smithy.APIError
	name := ""
	if errors.As(err, &api) {
		name = api.ErrorCode()
	}
	if !errors.As(err, &answer) || answer.HTTPStatusCode() == 0 { // the SDK has answers of status 0 where there were none
		out.Detail = quiet(err)
		return out
	}
	status := answer.HTTPStatusCode()
	out.Detail = strings.TrimSpace(fmt.Sprintf("%d %s", status, word(name)))
	if found := codes[name]; found != nil {
		out.Err = found
	} else if found := statuses[status]; found != nil {
		out.Err = found
	} else if status >= 300 && status < 500 && !slices.Contains(noRefusal, status) {
		out.Err = errors.New("refused")
	}
	if region := answer.Response.Header.Get("X-Amz-Bucket-Region"); out.Err == blob.ErrRegion || status == http.StatusBadRequest && region != "" {
		out.Err = blob.ErrRegion
		if region != "" {
			out.Detail += ", it is in " + word(region)
		}
	}
	return out
}

// word is s if it is one, of a bearable length: it comes from a server.
func word(s string) string {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return ""
		}
	}
	return s[:min(len(s), 64)]
}

// errCredentials: a request could not be signed.
var errCredentials = errors.New("no credentials found")

// recognize holds an answer to the pin, which not every server looks at, and to what every answer of S3 has.
func (b *Bucket) recognize(key string, pin blob.Pin, etag, version *string, length *int64) error {
	strong := func(etag string) string { return strings.TrimPrefix(etag, "W/") }
	switch {
	case aws.ToString(etag) == "" || length == nil:
		return &blob.Error{URI: b.URI(key), Err: blob.ErrUnavailable, Detail: "200, but not an answer of S3"}
	case pin.ETag != "" && strong(pin.ETag) != strong(*etag), pin.Version != "" && aws.ToString(version) != "" && pin.Version != *version:
		return &blob.Error{URI: b.URI(key), Err: blob.ErrChanged}
	}
	return nil
}

// quiet is what went wrong without the request that it happened to.
func quiet(err error) string {
	var op *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, errStalled):
		return errStalled.Error()
	case errors.As(err, &op):
		return op.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	for _, plain := range []error{io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, plain) {
			return "the connection broke off"
		}
	}
	// What else there is may repeat a URL with a password in it.
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	if errors.As(err, &certificate) || errors.As(err, &record) {
		return "no TLS, or not with a certificate that this machine knows"
	}
	return "the request failed"
}

// statusOf is the status of the answer that err is about, or 0.
func statusOf(err error) int {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}
