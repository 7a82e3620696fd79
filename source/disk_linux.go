package source

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fastDisk opens a file with one call of the kernel, which also refuses every link on the way: less than half the time
// of os.Root, which opens folder by folder.
type fastDisk struct{ dir *os.File }

func openFast(root *os.Root) fastDisk {
	dir, err := root.Open(".")
	if err != nil {
		return fastDisk{}
	}
	d := fastDisk{dir}
	// Kernels before 5.6 and some sandboxes have no openat2.
	h, err := d.openDir(".")
	if err != nil {
		dir.Close()
		return fastDisk{}
	}
	h.Close()
	return d
}

func (d fastDisk) ready() bool { return d.dir != nil }

func (d fastDisk) close() error {
	if d.dir == nil {
		return nil
	}
	return d.dir.Close()
}

func (d fastDisk) open(path string) (file, error) {
	fd, err := d.openFD(path, unix.O_NONBLOCK|unix.O_NOCTTY)
	return fdFile(fd), err
}

// openDir spares the status call per entry that a folder from os.Root makes.
func (d fastDisk) openDir(path string) (*os.File, error) {
	fd, err := d.openFD(path, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.dir.Name(), path)), nil
}

func (d fastDisk) openFD(path string, flags uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(int(d.dir.Fd()), path, &how)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// fdFile is a file descriptor that stays out of Go's poller.
type fdFile int

func (f fdFile) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f fdFile) stat() (fileStat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f), &st); err != nil {
		return fileStat{}, err
	}
	return fileStat{st.Mode&unix.S_IFMT == unix.S_IFREG, st.Size, unix.TimespecToNsec(st.Mtim)}, nil
}

func (f fdFile) Close() error { return unix.Close(int(f)) }
