package vfs_test

import (
	"path"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// This is the other way to find what a viewer sees: page by page, with rules and links of its own.

// mayRead is the access of one page, by the format document.
func mayRead(v access.Viewer, a access.Access) bool {
	if v.Operator {
		return true
	}
	among := false
	for _, g := range v.Groups {
		if slices.Contains(a.Excludes, g) {
			return false
		}
		among = among || slices.Contains(a.Groups, g)
	}
	if slices.Contains(a.Groups, "*") && (v.SignedIn || len(v.Groups) > 0) {
		among = true
	}
	return a.Public || among
}

// naive is a folder with nothing in it but what a viewer sees so far, and the links that the viewer may read.
type naive struct {
	seen, links map[string]page
	hops        int
}

// seenBy leaves of pages what the viewer sees: the files that the viewer may read, then links, as long as any leads to
// something that is there already.
func seenBy(v access.Viewer, pages []page) (left []page) {
	n := naive{seen: map[string]page{}, links: map[string]page{}}
	for _, p := range pages {
		switch {
		case !mayRead(v, p.access):
		case p.link == "":
			n.seen[p.path] = p
		default:
			n.links[p.path] = p
		}
	}
	for before := -1; before < len(n.seen); {
		before = len(n.seen)
		for _, l := range n.links {
			n.hops = 0
			if end, ok := n.follow(l, l.path); ok && n.there(end) {
				n.seen[l.path] = l
			}
		}
	}
	for _, p := range pages {
		if _, ok := n.seen[p.path]; ok {
			left = append(left, p)
		}
	}
	return left
}

// there reports whether a file or folder is.
func (n *naive) there(p string) bool {
	if _, ok := n.seen[p]; ok || p == "." {
		return true
	}
	for s := range n.seen {
		if strings.HasPrefix(s, p+"/") {
			return true
		}
	}
	return false
}

// follow is where link l leads, whose folders are there if link of is.
func (n *naive) follow(l page, of string) (end string, ok bool) {
	if n.hops++; n.hops > 40 {
		return "", false
	}
	at := path.Dir(l.path)
	for _, part := range strings.Split(l.link, "/") {
		if at != "." && !n.there(at) && !strings.HasPrefix(of, at+"/") || n.isFile(at) {
			return "", false
		}
		switch next := path.Join(at, part); {
		case part == ".." && at == ".":
			return "", false
		case part == "" || part == "." || part == "..":
			at = next
		default:
			at = next
			if to, isLink := n.links[next]; isLink {
				if at, ok = n.follow(to, of); !ok {
					return "", false
				}
			}
		}
	}
	return at, true
}

func (n *naive) isFile(p string) bool {
	f, ok := n.seen[p]
	return ok && f.link == ""
}
