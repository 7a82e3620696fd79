// Command chromafs indexes a documentation folder and serves it as a read-only filesystem over Chroma.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := exitCode(ctx, err)
	for _, line := range describe(err, code) {
		fmt.Fprintln(os.Stderr, line)
	}
	return code
}
