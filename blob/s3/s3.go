// Package s3 keeps objects in a bucket of Amazon S3 or of a server that speaks its protocol.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/chromafs/chromafs/blob"
)

// Options name a bucket and say how it is reached. The zero value of every field but Bucket is the default.
type Options struct {
	Bucket string
	// Prefix begins all keys, with a slash behind it; empty begins none.
	Prefix string
	// Endpoint is the URL of a server other than Amazon's.
	Endpoint string
	// Region is that of the bucket; else the one of the AWS configuration decides.
	Region string
	// PathStyle puts the bucket into the path of a request rather than the host.
	PathStyle bool

	// Attempts is how often a request is tried, 4 times by default, with up to Backoff between, 5 s by default.
	Attempts int
	Backoff  time.Duration
	// Stall is after how long without an answer, or a byte of one, a request is given up; 30 s by default.
	Stall time.Duration
	// MultipartBytes is the size above which an object is sent in parts, 64 MiB by default, and PartBytes that of a part,
	// 16 MiB by default and 5 MiB at least.
	MultipartBytes, PartBytes int64
}

func (o Options) withDefaults() Options {
	o.Attempts = cmp.Or(o.Attempts, 4)
	o.Backoff = cmp.Or(o.Backoff, 5*time.Second)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	o.MultipartBytes = cmp.Or(o.MultipartBytes, 64<<20)
	o.PartBytes = cmp.Or(o.PartBytes, 16<<20)
	return o
}

// Bucket is a blob.Store, and what package snapshot needs of a bucket. It is safe for concurrent use. A write with a
// condition is one request of S3 with that condition.
type Bucket struct {
	Options
	client *awss3.Client
}

var _ blob.Store = (*Bucket)(nil)

// Open asks the bucket for nothing yet. Credentials are looked for where the AWS tools do, at the first request.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	o = o.withDefaults()
	_, prefix, err := ParseURI(uri(o.Bucket, o.Prefix))
	if err != nil {
		return nil, err
	}
	o.Prefix = prefix
	settings, err := config.LoadDefaultConfig(ctx,
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.ResponseHeaderTimeout = o.Stall // where credentials are asked for
			t.DisableCompression = true       // bytes are wanted as they are
		})),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts, r.MaxBackoff = o.Attempts, o.Backoff })
		}))
	if err != nil {
		return nil, errors.New("the AWS configuration can't be read: " + quiet(err))
	}
	client := awss3.NewFromConfig(settings, func(c *awss3.Options) {
		c.HTTPClient = o.client(settings.HTTPClient)
		c.Logger = logging.Nop{} // else it prints
		c.Credentials = credentials{settings.Credentials}
		c.UsePathStyle = o.PathStyle
		c.Region = cmp.Or(o.Region, c.Region)
		if o.Endpoint != "" {
			c.BaseEndpoint = aws.String(o.Endpoint)
			c.Region = cmp.Or(c.Region, "us-east-1") // other servers mostly have none
		}
		// Others know nothing of the checksums that Amazon's own server wants by default.
		c.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		c.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		c.DisableLogOutputChecksumValidationSkipped = true
	})
	b := &Bucket{Options: o, client: client}
	if client.Options().Region == "" {
		return nil, &blob.Error{URI: b.URI(""), Err: blob.ErrRegion, Detail: "no region is configured"}
	}
	return b, nil
}

// client is the SDK's, with the patience of the options. It follows no redirect: a bucket is not where it was looked for.
func (o Options) client(made awss3.HTTPClient) awss3.HTTPClient {
	configured, ok := made.(*awshttp.BuildableClient)
	if !ok {
		return made
	}
	transport := configured.GetTransport()
	transport.ResponseHeaderTimeout = 0 // patient knows more of what a request is waiting for
	return &http.Client{
		Transport:     patient{transport, o.Stall},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// credentials are the SDK's, with an error that no answer of S3 can be taken for.
type credentials struct{ aws.CredentialsProvider }

func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return found, errCredentials // what it holds of answers is about those who give credentials
	}
	return found, nil
}

// bucketName is Amazon's rule, as far as it keeps a name from being something else in a URL.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// ParseURI takes s3://BUCKET/KEY apart; the key may be empty, and a slash at its end has no say. An error does not repeat what
// may hold a password.
func ParseURI(text string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(text, "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	key = strings.TrimSuffix(key, "/")
	switch {
	case !ok:
		return "", "", errors.New("not of the form s3://BUCKET/KEY")
	case !bucketName.MatchString(bucket) || strings.Contains(bucket, ".."):
		return "", "", errors.New("s3://BUCKET/KEY: what stands for BUCKET is no name of a bucket")
	case key != "" && (blob.CheckKey(key) != nil || strings.ContainsAny(key, "?#") || strings.ContainsFunc(key, isControl) || len(key) > maxKey):
		return "", "", fmt.Errorf("s3://%s: the key has a part that is empty, . or .., or characters that no key here may have", bucket)
	}
	return bucket, key, nil
}

// maxKey is S3's bound of a key in bytes.
const maxKey = 1024

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func uri(bucket, key string) string {
	if key == "" {
		return "s3://" + bucket
	}
	return "s3://" + bucket + "/" + key
}

// URI is s3://BUCKET/PREFIX/KEY.
func (b *Bucket) URI(key string) string { return uri(b.Bucket, b.key(key)) }

// key is the whole key of an object.
func (b *Bucket) key(key string) string {
	switch "" {
	case b.Prefix:
		return key
	case key:
		return b.Prefix
	}
	return b.Prefix + "/" + key
}

// checkKey refuses what is no key, before it is sent.
func (b *Bucket) checkKey(key string) error {
	err := blob.CheckKey(key)
	if err == nil && len(b.key(key)) > maxKey {
		err = fmt.Errorf("key of more than %d bytes", maxKey)
	}
	if err != nil {
		return &blob.Error{URI: b.URI(key), Err: err}
	}
	return nil
}

// text is a parameter of a request, nil for an empty one.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
