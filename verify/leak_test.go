package verify_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/verify"
	"github.com/chromafs/chromafs/vfs"
)

// bent is a reader of whom some answers are replaced.
type bent struct {
	verify.Reader
	open       func(name string) (fs.File, error)
	stat       func(name string) (fs.FileInfo, error)
	readFile   func(name string) ([]byte, error)
	readDir    func(name string) ([]fs.DirEntry, error)
	readLink   func(name string) (string, error)
	candidates func(ids []string) []vfs.Candidate
}

func (b bent) Open(name string) (fs.File, error) {
	if b.open == nil {
		return b.Reader.Open(name)
	}
	return b.open(name)
}

func (b bent) Stat(name string) (fs.FileInfo, error) {
	if b.stat == nil {
		return b.Reader.Stat(name)
	}
	return b.stat(name)
}

func (b bent) ReadFile(name string) ([]byte, error) {
	if b.readFile == nil {
		return b.Reader.ReadFile(name)
	}
	return b.readFile(name)
}

func (b bent) ReadDir(name string) ([]fs.DirEntry, error) {
	if b.readDir == nil {
		return b.Reader.ReadDir(name)
	}
	return b.readDir(name)
}

func (b bent) ReadLink(name string) (string, error) {
	if b.readLink == nil {
		return b.Reader.ReadLink(name)
	}
	return b.readLink(name)
}

func (b bent) Candidates(ids []string) []vfs.Candidate {
	if b.candidates == nil {
		return b.Reader.Candidates(ids)
	}
	return b.candidates(ids)
}

// globbing globs in a way of its own.
type globbing struct {
	verify.Reader
	glob func(pattern string) ([]string, error)
}

func (g globbing) Glob(pattern string) ([]string, error) { return g.glob(pattern) }

// worded is an error of another text that is the same to errors.Is.
func worded(name string) error {
	return &fs.PathError{Op: "stat", Path: name, Err: fmt.Errorf("not for you: %w", fs.ErrNotExist)}
}

// TestLeaks has readers that betray hidden pages, or keep back visible ones, in one way each.
func TestLeaks(t *testing.T) {
	const hidden = "secret/deep/d.md" // for staff
	tests := []struct {
		name string
		bend func(own, all verify.Reader) verify.Reader
		want []want
	}{
		{"lists hidden names", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, readDir: all.ReadDir} }, []want{
			{verify.KindLeak, hidden, "anonymous learns of it by a listing"}, {verify.KindLeak, "secret", "nothing in it is theirs"},
			{verify.KindLeak, "to-staff.md", "a listing"},
		}},
		{"lists a hidden folder when asked for it", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readDir: func(name string) ([]fs.DirEntry, error) {
				if name == "secret" {
					return nil, nil
				}
				return own.ReadDir(name)
			}}
		}, []want{{verify.KindLeak, "secret", `learns of it by read folder of "secret", but nothing`}}},
		{"lists a name of its own", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readDir: func(name string) ([]fs.DirEntry, error) {
				list, err := own.ReadDir(name)
				if name == "guides" {
					list = append(list, renamed{list[0], "zzz.md"})
				}
				return list, err
			}}
		}, []want{{verify.KindLeak, "guides/zzz.md", "not in the snapshot"}}},
		{"lists another type", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readDir: func(name string) ([]fs.DirEntry, error) {
				list, err := own.ReadDir(name)
				if name == "guides" {
					folders, err := own.ReadDir(".")
					k := slices.IndexFunc(folders, fs.DirEntry.IsDir)
					return append([]fs.DirEntry{renamed{folders[k], "a.md"}}, list[1:]...), err
				}
				return list, err
			}}
		}, []want{{verify.KindListing, "guides/a.md", "anonymous is shown a folder, a file in the folder"}, {verify.KindHidden, "guides/a.md", ""}}},
		{"leaves out a visible page", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readDir: func(name string) ([]fs.DirEntry, error) {
				list, err := own.ReadDir(name)
				return slices.DeleteFunc(list, func(d fs.DirEntry) bool { return d.Name() == "members.md" }), err
			}}
		}, []want{{verify.KindHidden, "members.md", "anonymous is not shown it, but it is for everyone: public in the navigation"}}},
		{"can't list a visible folder", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readDir: func(name string) ([]fs.DirEntry, error) {
				if name == "guides" {
					return nil, fs.ErrPermission
				}
				return own.ReadDir(name)
			}}
		}, []want{{verify.KindHidden, "guides", "can't list it: permission denied"}, {verify.KindHidden, "guides/a.md", "not shown"}}},
		{"stat answers", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, stat: all.Stat} }, []want{
			{verify.KindLeak, hidden, `learns of it by stat of "secret/deep/d.md"; `}, {verify.KindLeak, "guides/[slug]", `stat of "guides/[slug]"`},
		}},
		{"stat answers behind a link alone", func(own, all verify.Reader) verify.Reader {
			return bent{Reader: own, stat: func(name string) (fs.FileInfo, error) {
				if strings.HasPrefix(name, "guides.en/") {
					return all.Stat(name)
				}
				return own.Stat(name)
			}}
		}, []want{{verify.KindLeak, "guides/b.md", `by stat of "guides.en/b.md"`}}},
		{"stat says forbidden", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, stat: func(name string) (fs.FileInfo, error) {
				if name == hidden {
					return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
				}
				return own.Stat(name)
			}}
		}, []want{{verify.KindLeak, hidden, `stat of "secret/deep/d.md", which says "stat secret/deep/d.md: permission denied"`}}},
		{"stat says absent in other words", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, stat: func(name string) (fs.FileInfo, error) {
				if name == hidden {
					return nil, worded(name)
				}
				return own.Stat(name)
			}}
		}, []want{{verify.KindLeak, hidden, "not for you"}}},
		{"stat says what is below is no folder", func(own, all verify.Reader) verify.Reader {
			return bent{Reader: own, stat: func(name string) (fs.FileInfo, error) {
				if strings.HasSuffix(name, "/x") {
					return all.Stat(name)
				}
				return own.Stat(name)
			}}
		}, []want{{verify.KindLeak, hidden, `stat of "secret/deep/d.md/x", which says "stat secret/deep/d.md/x: not a directory"`}}},
		{"opens", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, open: all.Open} }, []want{
			{verify.KindLeak, hidden, `open of "secret/deep/d.md"`},
		}},
		{"reads", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, readFile: all.ReadFile} }, []want{
			{verify.KindLeak, hidden, `read file of "secret/deep/d.md"`}, {verify.KindLeak, hidden, "anonymous reads it ("},
			{verify.KindLeak, "", "chunks were fetched"},
		}},
		{"reads a visible page wrong", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readFile: func(name string) ([]byte, error) {
				body, err := own.ReadFile(name)
				if name == "open.md" {
					body = body[1:]
				}
				return body, err
			}}
		}, []want{{verify.KindContent, "open.md", "anonymous gets other bytes than the operator"}}},
		{"does not read a visible page", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readFile: func(name string) ([]byte, error) {
				if name == "open.md" {
					name = "none.md"
				}
				return own.ReadFile(name)
			}}
		}, []want{{verify.KindHidden, "open.md", "anonymous can't read it"}}},
		{"tells where a hidden link leads", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, readLink: all.ReadLink} }, []want{
			{verify.KindLeak, "guides/chain", `read link of "guides/chain"`}, {verify.KindLeak, hidden, "which says"},
		}},
		{"globs hidden names", func(own, all verify.Reader) verify.Reader {
			return globbing{own, func(pattern string) ([]string, error) { return fs.Glob(all, pattern) }}
		}, []want{
			{verify.KindLeak, "guides/[slug]/c.md", `glob of "guides/[slug]/*"; glob of "guides/[slug]/c.md"`},
			{verify.KindLeak, "guides/b.md", `glob of "guides/*"; glob of "guides.en/*"`},
			{verify.KindLeak, "guides/through", "not all that it leads through and to is theirs"},
		}},
		{"gives all candidates", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, candidates: all.Candidates} }, []want{
			{verify.KindLeak, hidden, "anonymous: a search gives chunk 0"}, {verify.KindLeak, hidden, "anonymous finds its line"},
		}},
		{"gives candidates of its own", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, candidates: func([]string) []vfs.Candidate { return []vfs.Candidate{{Path: "open.md", Chunk: 7, ID: "none#7"}} }}
		}, []want{{verify.KindLeak, "open.md", "which the snapshot has not"}}},
		{"fetches while it lists", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, readDir: func(name string) ([]fs.DirEntry, error) {
				if _, err := own.ReadFile("open.md"); err != nil {
					return nil, err
				}
				return own.ReadDir(name)
			}}
		}, []want{{verify.KindLeak, "", "chunks were fetched to list folders"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := guardedSite(t)
			s.options.PerKind = 500
			r, err := verify.RunWith(t.Context(), s.store, s.location, s.options, func(v access.Viewer, own, all verify.Reader) verify.Reader {
				if v.Operator || v.SignedIn {
					return own
				}
				return tt.bend(own, all)
			})
			s.must(err)
			expect(t, r, tt.want)
			for _, f := range r.Findings {
				if !strings.Contains(f.Detail, "anonymous") {
					t.Errorf("not of anonymous: %+v", f)
				}
			}
		})
	}
}

// renamed is an entry under another name.
type renamed struct {
	fs.DirEntry
	name string
}

func (r renamed) Name() string { return r.name }

// TestOperatorFindsNothing makes the search blind: without its own hits, that viewers find nothing would prove nothing.
func TestOperatorFindsNothing(t *testing.T) {
	s := guardedSite(t)
	r, err := verify.RunWith(t.Context(), s.store, s.location, s.options, func(v access.Viewer, own, _ verify.Reader) verify.Reader {
		if !v.Operator {
			return own
		}
		return bent{Reader: own, candidates: func([]string) []vfs.Candidate { return nil }}
	})
	s.must(err)
	expect(t, r, []want{{verify.KindSearch, "secret/deep/d.md", "the operator does not find its line"}})
}

// TestNothingVisible has a viewer who sees no file: whatever the store finds, nothing is fetched for them.
func TestNothingVisible(t *testing.T) {
	s := newSite(t, "")
	s.options.Source.Default = to(access.SignedIn())
	ids, err := s.store.IDs(t.Context(), index.KindChunk, "")
	s.must(err)
	s.must(s.store.Delete(t.Context(), ids))
	s.read()
	s.publish()
	asked := 0
	r, err := verify.RunWith(t.Context(), s.store, s.location, s.options, func(v access.Viewer, own, _ verify.Reader) verify.Reader {
		if v.Operator || v.SignedIn {
			return own
		}
		return bent{Reader: own, candidates: func(ids []string) []vfs.Candidate {
			list := own.Candidates(ids)
			if asked++; len(list) > 0 || len(ids) == 0 {
				t.Errorf("%d candidates of %d", len(list), len(ids))
			}
			return list
		}}
	})
	s.must(err)
	expect(t, r, nil)
	want := []verify.ViewerReport{{Name: "anonymous", Hidden: 9}, {Name: "signed in", Visible: 9}}
	if !slices.Equal(r.Viewers, want) || asked != r.Secrets || asked < 7 {
		t.Errorf("%+v, %d of %d searched", r.Viewers, asked, r.Secrets)
	}
}
