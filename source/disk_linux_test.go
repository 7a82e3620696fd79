package source

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpecialFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": ""})
	if err := unix.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s.md"))
	if err != nil {
		t.Skip(err) // the path may be too long for a socket
	}
	defer socket.Close()
	eachDisk(t, dir, Options{Include: []string{"**"}}, func(t *testing.T, f *Folder) {
		l := list(t, f)
		want := []Ignored{{"pipe.md", NotRegular, "named pipe"}, {"s.md", NotRegular, "socket"}}
		if !slices.Equal(l.Ignored, want) {
			t.Errorf("ignored %v", l.Ignored)
		}
		// A pipe that is swapped in after the walk must not keep the reader waiting.
		if _, err := f.Read("pipe.md"); !errors.Is(err, errNotRegular) {
			t.Errorf("pipe: %v", err)
		}
	})
}

// TestUnreadable gives up the right to read everything, on one thread, if it runs as root.
func TestUnreadable(t *testing.T) {
	dir := tree(t, map[string]string{"ok.md": "", "locked.md": "", "shut/a.md": "", "sub/.gitignore": "*.md\n", "sub/b.md": ""})
	for _, name := range []string{"locked.md", "shut", "sub/.gitignore"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "shut"), 0o755) })
	eachDisk(t, dir, Options{}, func(t *testing.T, f *Folder) {
		runtime.LockOSThread() // and never back: the thread ends with the test
		if os.Geteuid() == 0 {
			unix.Setfsuid(65534)
		}
		l := list(t, f)
		var got []string
		for i := range l.Invalid {
			if !errors.Is(&l.Invalid[i], syscall.EACCES) {
				t.Error(&l.Invalid[i])
			}
			got = append(got, l.Invalid[i].Path)
		}
		if want := []string{"shut/", "sub/.gitignore"}; !slices.Equal(got, want) {
			t.Errorf("invalid %q, want %q", got, want)
		}
		if inv := (*Invalid)(nil); !errors.As(l.Explain("shut/a.md"), &inv) {
			t.Errorf("explained by %v", l.Explain("shut/a.md"))
		}
		if _, err := f.Read("locked.md"); !errors.Is(err, syscall.EACCES) {
			t.Errorf("locked: %v", err)
		}
	})
}

func TestFastDiskIsUsed(t *testing.T) {
	f := open(t, t.TempDir(), Options{})
	if err := unix.Access("/proc/self/fd", unix.F_OK); err != nil {
		t.Skip(err)
	}
	if _, err := unix.Openat2(unix.AT_FDCWD, ".", &unix.OpenHow{Flags: unix.O_RDONLY}); err != nil {
		t.Skipf("no openat2 here: %v", err)
	}
	if !f.disk.fast.ready() {
		t.Error("openat2 works, but is not used")
	}
}
