package s3

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/chromafs/chromafs/blob"
)

// absent is the condition that there is no object.
const absent = "*"

// Put stores an object; a large one in parts, of which nothing is left when it fails.
func (b *Bucket) Put(ctx context.Context, key string, c blob.Content, replace bool) error {
	if err := b.checkKey(key); err != nil {
		return err
	}
	if replace {
		err := b.fail(ctx, key, b.send(ctx, key, c, nil))
		if errors.Is(err, blob.ErrChanged) { // there was no condition: another write was in the way
			err = &blob.Error{URI: b.URI(key), Err: blob.ErrUnavailable, Detail: "another write is under way"}
		}
		return err
	}
	for try := 1; ; try++ {
		err := b.send(ctx, key, c, aws.String(absent))
		if statusOf(err) == http.StatusNotImplemented {
			err = b.send(ctx, key, c, nil) // a server that knows no conditions; under a digest it makes no difference
		}
		if err = b.fail(ctx, key, err); !errors.Is(err, blob.ErrChanged) {
			return err
		}
		// It is there already, unless another writer was under way just now, and may still fail.
		if _, there := b.Stat(ctx, key, blob.Pin{}); !errors.Is(there, blob.ErrNotFound) || try >= b.Attempts {
			return there
		}
		if err := b.pause(ctx, try); err != nil {
			return err
		}
	}
}

func (b *Bucket) send(ctx context.Context, key string, c blob.Content, match *string) error {
	if c.Size > b.MultipartBytes {
		return b.putParts(ctx, key, c, match)
	}
	return b.put(ctx, key, c, match)
}

// pause waits before a further try, longer each time.
func (b *Bucket) pause(ctx context.Context, try int) error {
	wait := time.NewTimer(min(b.Backoff, 100*time.Millisecond<<try))
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return nil
	}
}

// put sends the object in one request. Its digest is in the signature, so the server takes no other bytes. Content that
// fails ends the request, which is not tried again then.
func (b *Bucket) put(ctx context.Context, key string, c blob.Content, match *string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &contentReader{content: c, failed: cancel}
	defer r.close()
	if c.Size == 0 {
		_, _ = r.Read(make([]byte, 1)) // nobody else asks for a body of no bytes
	}
	out, err := b.client.PutObject(ctx, &awss3.PutObjectInput{
		Bucket: &b.Bucket, Key: aws.String(b.key(key)), IfNoneMatch: match, Body: r, ContentLength: &c.Size,
		ContentType:    aws.String("application/octet-stream"),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(c.SHA256[:])),
	}, signedWith(c.SHA256))
	if r.err != nil {
		return b.failContent(key, r.err)
	}
	if err == nil {
		err = b.recognize(key, blob.Pin{}, out.ETag, nil, &c.Size)
	}
	return err
}

// signedWith puts a digest that is known into the signature. The SDK would read the body for it, or do without.
func signedWith(sum [32]byte) func(*awss3.Options) {
	set := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		return next.HandleInitialize(v4.SetPayloadHash(ctx, hex.EncodeToString(sum[:])), in)
	}
	return awss3.WithAPIOptions(func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("KnownPayloadHash", set), middleware.Before)
	})
}

// failContent is for content that is not what it should be, or can't be read: the error is that of the content.
func (b *Bucket) failContent(key string, err error) error {
	for _, known := range []error{blob.ErrShort, blob.ErrTrailing, blob.ErrDigest} {
		if errors.Is(err, known) {
			return &blob.Error{URI: b.URI(key), Err: err}
		}
	}
	return &contentError{err}
}

// contentError keeps an error of the content from being taken for one of the storage.
type contentError struct{ error }

func (e *contentError) Unwrap() error { return e.error }

// contentReader reads content that is held to its digest, as often as the SDK begins again. It is a byte ahead of what it gives out, so
// that content which is not proven, however it ends, is never sent whole: some servers keep what came before a connection broke.
type contentReader struct {
	content blob.Content
	failed  func() // called when it does
	open    io.ReadCloser
	r       *bufio.Reader
	at      int64
	err     error // of the content
}

func (r *contentReader) Read(p []byte) (int, error) {
	n, err := r.read(p)
	if err != nil && err != io.EOF {
		r.err = err
		r.failed()
	}
	return n, err
}

func (r *contentReader) read(p []byte) (int, error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	if r.open == nil {
		open, err := r.content.Open()
		if err != nil {
			return 0, err
		}
		r.open, r.r = open, bufio.NewReaderSize(blob.Verify(open, r.content.Size, r.content.SHA256), readBytes)
	}
	ahead, err := r.r.Peek(2)
	if err != nil && (err != io.EOF || len(ahead) == 0) {
		return 0, err
	}
	n, _ := r.r.Read(p[:min(len(p), max(1, r.r.Buffered()-1))]) // of what is buffered, so there is no error
	r.at += int64(n)
	return n, nil
}

// readBytes is how much of content is read at a time.
const readBytes = 64 << 10

// Seek begins again, or tells where it is and how much there is: all that the SDK asks for.
func (r *contentReader) Seek(offset int64, whence int) (int64, error) {
	switch {
	case whence == io.SeekCurrent && offset == 0:
		return r.at, nil
	case whence == io.SeekEnd && offset == 0:
		return r.content.Size, nil
	case whence == io.SeekStart && offset == 0:
		r.close()
		r.open, r.at = nil, 0
		return 0, nil
	}
	return 0, errors.New("content is read from its start alone")
}

func (r *contentReader) close() {
	if r.open != nil {
		r.open.Close()
	}
}

// maxParts is fewer than the 10,000 that S3 allows.
const maxParts = 9000

// putParts sends the object part by part. The parts become the object in the last request, once all is proven.
func (b *Bucket) putParts(ctx context.Context, key string, c blob.Content, match *string) error {
	made, err := b.client.CreateMultipartUpload(ctx, &awss3.CreateMultipartUploadInput{
		Bucket: &b.Bucket, Key: aws.String(b.key(key)), ContentType: aws.String("application/octet-stream"),
	})
	if err != nil {
		return err
	}
	parts, err := b.sendParts(ctx, key, c, made.UploadId)
	if err == nil {
		_, err = b.client.CompleteMultipartUpload(ctx, &awss3.CompleteMultipartUploadInput{
			Bucket: &b.Bucket, Key: aws.String(b.key(key)), UploadId: made.UploadId, IfNoneMatch: match,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		if b.completed(ctx, key, c, err) {
			return nil
		}
	}
	if err != nil {
		b.abort(ctx, key, made.UploadId)
	}
	return err
}

// completed reports whether an upload that is unknown to its last request is so because an earlier try of that made the
// object, and the answer was lost. Both have the same digest in their key.
func (b *Bucket) completed(ctx context.Context, key string, c blob.Content, err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "NoSuchUpload" {
		return false
	}
	info, err := b.Stat(ctx, key, blob.Pin{})
	return err == nil && info.Size == c.Size
}

// abort removes the parts, even when the context has ended. What fails here costs storage until the bucket's own rules
// remove it.
func (b *Bucket) abort(ctx context.Context, key string, upload *string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, _ = b.client.AbortMultipartUpload(ctx, &awss3.AbortMultipartUploadInput{Bucket: &b.Bucket, Key: aws.String(b.key(key)), UploadId: upload})
}

func (b *Bucket) sendParts(ctx context.Context, key string, c blob.Content, upload *string) ([]types.CompletedPart, error) {
	open, err := c.Open()
	if err != nil {
		return nil, &contentError{err}
	}
	defer open.Close()
	r := blob.Verify(open, c.Size, c.SHA256)
	var parts []types.CompletedPart
	part := make([]byte, max(b.PartBytes, c.Size/maxParts+1))
	for sent := int64(0); sent < c.Size; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.ReadFull(r, part[:min(int64(len(part)), c.Size-sent)])
		if err != nil {
			return nil, b.failContent(key, err)
		}
		number := aws.Int32(int32(len(parts) + 1))
		out, err := b.client.UploadPart(ctx, &awss3.UploadPartInput{
			Bucket: &b.Bucket, Key: aws.String(b.key(key)), UploadId: upload, PartNumber: number, Body: bytes.NewReader(part[:n]),
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, types.CompletedPart{PartNumber: number, ETag: out.ETag})
		sent += int64(n)
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		return nil, b.failContent(key, err)
	}
	return parts, nil
}

// Get opens an object; body is nil where it still has the ETag unless.
func (b *Bucket) Get(ctx context.Context, key, unless string) (io.ReadCloser, string, error) {
	if err := b.checkKey(key); err != nil {
		return nil, "", err
	}
	in := &awss3.GetObjectInput{Bucket: &b.Bucket, Key: aws.String(b.key(key)), IfNoneMatch: text(unless)}
	out, err := b.client.GetObject(ctx, in)
	if statusOf(err) == http.StatusNotModified && unless != "" {
		return nil, unless, nil
	}
	if err != nil {
		return nil, "", b.fail(ctx, key, err)
	}
	if err := b.recognize(key, blob.Pin{}, out.ETag, nil, out.ContentLength); err != nil {
		out.Body.Close()
		return nil, "", err
	}
	return &body{b: b, ctx: ctx, key: key, pin: blob.Pin{ETag: *out.ETag}, left: *out.ContentLength, answer: out.Body}, *out.ETag, nil
}

// Write stores data if the object there has the ETag match, or with match empty if there is none.
func (b *Bucket) Write(ctx context.Context, key string, data []byte, match string) (string, error) {
	if err := b.checkKey(key); err != nil {
		return "", err
	}
	in := &awss3.PutObjectInput{Bucket: &b.Bucket, Key: aws.String(b.key(key)), Body: bytes.NewReader(data), IfMatch: text(match)}
	if match == "" {
		in.IfNoneMatch = aws.String(absent)
	}
	out, err := b.client.PutObject(ctx, in)
	if err == nil {
		err = b.recognize(key, blob.Pin{}, out.ETag, nil, aws.Int64(int64(len(data))))
	}
	if err != nil {
		err = b.fail(ctx, key, err)
		if match != "" && errors.Is(err, blob.ErrNotFound) {
			return "", &blob.Error{URI: b.URI(key), Err: blob.ErrChanged, Detail: "it is gone"}
		}
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// Delete removes an object that may be gone already.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := b.checkKey(key); err != nil {
		return err
	}
	_, err := b.client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &b.Bucket, Key: aws.String(b.key(key))})
	if err = b.fail(ctx, key, err); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}
