// Command s3server serves S3 on this machine over a folder, for tests and benchmarks. It is a module of its own, so that
// nothing of it gets into chromafs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "s3server:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. Only who has the credentials of the environment is let in.
func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: s3server PORT DIR, with S3SERVER_ACCESS_KEY and S3SERVER_SECRET_KEY set")
	}
	port, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		return fmt.Errorf("port: %w", err)
	}
	dir, err := filepath.Abs(args[1])
	if err != nil {
		return err
	}
	data, versions, sidecar := filepath.Join(dir, "data"), filepath.Join(dir, "versions"), filepath.Join(dir, "attributes")
	for _, folder := range []string{data, versions, sidecar} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	// Attributes go beside the data: not every disk keeps extended attributes.
	attributes, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	disk, err := posix.New(data, attributes, posix.PosixOpts{VersioningDir: versions, SideCarDir: sidecar})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, disk, &embedgw.Config{
		RootUserAccess: os.Getenv("S3SERVER_ACCESS_KEY"), RootUserSecret: os.Getenv("S3SERVER_SECRET_KEY"), Region: "us-east-1",
		Ports:          []string{fmt.Sprintf("127.0.0.1:%d", port)},
		MaxConnections: 4096, MaxRequests: 4096, MultipartMaxParts: 10_000,
		Quiet: true, KeepAlive: true, HealthPath: "/health",
	})
}
