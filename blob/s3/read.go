package s3

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/chromafs/chromafs/blob"
)

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, key string, pin blob.Pin) (blob.Info, error) {
	if err := b.checkKey(key); err != nil {
		return blob.Info{}, err
	}
	out, err := b.client.HeadObject(ctx, &awss3.HeadObjectInput{
		Bucket: &b.Bucket, Key: aws.String(b.key(key)), IfMatch: text(pin.ETag), VersionId: text(pin.Version),
		ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return blob.Info{}, b.fail(ctx, key, b.explain(ctx, key, pin, err))
	}
	if err := b.recognize(key, pin, out.ETag, out.VersionId, out.ContentLength); err != nil {
		return blob.Info{}, err
	}
	info := blob.Info{Size: aws.ToInt64(out.ContentLength), ETag: aws.ToString(out.ETag), Version: version(out.VersionId)}
	// A checksum of the checksums of parts has their number behind it, and is no base64.
	if sum, err := base64.StdEncoding.DecodeString(aws.ToString(out.ChecksumSHA256)); err == nil && len(sum) == 32 {
		info.SHA256 = (*[32]byte)(sum)
	}
	return info, nil
}

// explain asks again with GET where HEAD was refused: an answer to HEAD has no words for why.
func (b *Bucket) explain(ctx context.Context, key string, pin blob.Pin, err error) error {
	if status := statusOf(err); status != http.StatusForbidden && status != http.StatusBadRequest {
		return err
	}
	out, getErr := b.client.GetObject(ctx, &awss3.GetObjectInput{
		Bucket: &b.Bucket, Key: aws.String(b.key(key)), IfMatch: text(pin.ETag), VersionId: text(pin.Version), Range: aws.String("bytes=0-0"),
	})
	if getErr == nil {
		out.Body.Close()
		return err
	}
	return getErr
}

// version is a version that can be asked for: objects from before a bucket had versions all have "null".
func version(id *string) string {
	if v := aws.ToString(id); v != "null" {
		return v
	}
	return ""
}

// Open reads of an object. When an answer breaks off, the rest is asked for, of the same object.
func (b *Bucket) Open(ctx context.Context, key string, pin blob.Pin, offset, length int64) (io.ReadCloser, error) {
	if err := b.checkKey(key); err != nil {
		return nil, err
	}
	if length == 0 {
		_, err := b.Stat(ctx, key, pin)
		return http.NoBody, err
	}
	r := &body{b: b, ctx: ctx, key: key, pin: pin, offset: offset, left: length}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// progressBytes are so many that a server which breaks off after them is worth another try, however often it does.
const progressBytes = 64 << 10

// body is the rest of an object, or of a range.
type body struct {
	b      *Bucket
	ctx    context.Context
	key    string
	pin    blob.Pin
	offset int64 // of the next byte
	left   int64 // bytes from there on; below 0 where they are not known yet
	answer io.ReadCloser
	tries  int // that broke off, since the last progressBytes
	moved  int // bytes since then
	err    error
}

// open asks for what is left. Behind the end of the object that is nothing.
func (r *body) open() error {
	in := &awss3.GetObjectInput{Bucket: &r.b.Bucket, Key: aws.String(r.b.key(r.key)), IfMatch: text(r.pin.ETag), VersionId: text(r.pin.Version)}
	if r.left >= 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", r.offset, r.offset+r.left-1))
	} else if r.offset > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", r.offset))
	}
	out, err := r.b.client.GetObject(r.ctx, in)
	if statusOf(err) == http.StatusRequestedRangeNotSatisfiable {
		r.left, r.answer = 0, http.NoBody
		return nil
	}
	if err != nil {
		return r.b.fail(r.ctx, r.key, err)
	}
	r.answer = out.Body
	if err := r.b.recognize(r.key, r.pin, out.ETag, out.VersionId, out.ContentLength); err != nil {
		return r.close(err)
	}
	if in.Range != nil && !strings.HasPrefix(aws.ToString(out.ContentRange), fmt.Sprintf("bytes %d-", r.offset)) {
		return r.close(&blob.Error{URI: r.b.URI(r.key), Err: blob.ErrUnavailable, Detail: "another range than the one asked for"})
	}
	r.left = *out.ContentLength
	if r.pin.ETag == "" && !strings.HasPrefix(aws.ToString(out.ETag), "W/") {
		r.pin.ETag = aws.ToString(out.ETag) // so that the rest is of the same object
	}
	return nil
}

func (r *body) close(err error) error {
	if closeErr := r.answer.Close(); err == nil {
		return closeErr
	}
	return err
}

// Close gives up what is left.
func (r *body) Close() error {
	if r.err == nil {
		r.err = io.ErrClosedPipe
	}
	return r.close(nil)
}

func (r *body) Read(p []byte) (int, error) {
	for {
		if r.err != nil || len(p) == 0 {
			return 0, r.err
		}
		if r.left == 0 {
			r.err = io.EOF
			return 0, r.err
		}
		n, err := r.answer.Read(p[:min(int64(len(p)), r.left)])
		r.offset += int64(n)
		r.left -= int64(n)
		if r.moved += n; r.moved >= progressBytes {
			r.moved, r.tries = 0, 0
		}
		if n > 0 {
			return n, nil
		}
		if err != nil {
			r.err = r.resume(err)
		}
	}
}

// resume asks for the rest after an answer broke off with err.
func (r *body) resume(err error) error {
	_ = r.close(nil) // it broke off
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if r.tries++; r.ctx.Err() != nil || r.tries >= r.b.Attempts {
		return r.b.fail(r.ctx, r.key, err)
	}
	if err := r.b.pause(r.ctx, r.tries); err != nil {
		return err
	}
	return r.open()
}
