// Package s3test gives tests buckets on a real S3 server.
package s3test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/chromafs/chromafs/blob/s3"
)

// The environment that scripts/services makes.
const (
	envServer = "CHROMAFS_TEST_S3"
	envKey    = "CHROMAFS_TEST_S3_KEY"
	envSecret = "CHROMAFS_TEST_S3_SECRET"
)

// Server is one that a test may use.
type Server struct {
	Endpoint, Key, Secret string
	client                *awss3.Client
}

// Start finds the server, and sets the environment of the test so that it is let in. Without one the test is skipped, or
// fails where CHROMAFS_REQUIRE_SERVICES is set.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Endpoint: os.Getenv(envServer), Key: os.Getenv(envKey), Secret: os.Getenv(envSecret)}
	if s.Endpoint == "" {
		const text = "set " + envServer + " to run this on an S3 server (scripts/services starts one)"
		if os.Getenv("CHROMAFS_REQUIRE_SERVICES") != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	for name, value := range s.Env() {
		t.Setenv(name, value)
	}
	settings, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s.client = awss3.NewFromConfig(settings, func(o *awss3.Options) { o.BaseEndpoint, o.UsePathStyle = &s.Endpoint, true })
	return s
}

// Env is an environment that is let in and knows nothing of this machine's own configuration.
func (s *Server) Env() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": s.Key, "AWS_SECRET_ACCESS_KEY": s.Secret, "AWS_REGION": "us-east-1", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	}
}

// NewBucket makes an empty bucket.
func (s *Server) NewBucket(t testing.TB) (name string) {
	t.Helper()
	name = "test-" + strings.ToLower(rand.Text()[:16])
	if _, err := s.client.CreateBucket(context.Background(), &awss3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return name
}

// KeepVersions lets a bucket keep the versions of its objects.
func (s *Server) KeepVersions(t testing.TB, bucket string) {
	t.Helper()
	_, err := s.client.PutBucketVersioning(context.Background(), &awss3.PutBucketVersioningInput{Bucket: &bucket,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
	if err != nil {
		t.Fatal(err)
	}
}

// Client is a plain client of the server.
func (s *Server) Client() *awss3.Client { return s.client }

// Options reach a bucket of the server.
func (s *Server) Options(bucket string) s3.Options {
	return s3.Options{Bucket: bucket, Endpoint: s.Endpoint, PathStyle: true}
}

// Bucket is an empty bucket on a real server.
func Bucket(t testing.TB) *s3.Bucket {
	t.Helper()
	s := Start(t)
	b, err := s3.Open(context.Background(), s.Options(s.NewBucket(t)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
