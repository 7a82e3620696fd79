//go:build !linux

package source

import (
	"errors"
	"os"
)

// fastDisk does not exist here; os.Root does all the work.
type fastDisk struct{}

func openFast(*os.Root) fastDisk { return fastDisk{} }

func (fastDisk) ready() bool { return false }

func (fastDisk) close() error { return nil }

func (fastDisk) open(string) (file, error) { return nil, errors.ErrUnsupported }

func (fastDisk) openDir(string) (*os.File, error) { return nil, errors.ErrUnsupported }
