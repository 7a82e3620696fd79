package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/access/token"
	"github.com/chromafs/chromafs/config"
)

// tokenEnv holds a token where a flag would show it to every process of the machine.
const tokenEnv = "CHROMAFS_TOKEN"

var (
	errTwoViewers = errors.New("more than one of --groups with --authenticated, --token and --all says who looks")
	errNoKey      = errors.New("nothing says how tokens are signed")
)

// viewerFlags say who looks.
type viewerFlags struct {
	groups        []string
	authenticated bool
	token         string
	all           bool
	given         func(name string) bool
}

func bindViewer(cmd *cobra.Command) *viewerFlags {
	v := &viewerFlags{}
	f := cmd.Flags()
	f.StringSliceVar(&v.groups, "groups", nil, "look as a signed-in member of these groups; repeats")
	f.BoolVar(&v.authenticated, "authenticated", false, "look as a signed-in viewer")
	f.StringVar(&v.token, "token", "", "look as the bearer of a JSON web token (or "+tokenEnv+")")
	f.BoolVar(&v.all, "all", false, "look as the operator, who sees every page")
	v.given = f.Changed
	return v
}

// viewer is who looks: whom the flags say, else whom the token in the environment says, else an anonymous one. A token
// that is not valid is an error, never an anonymous viewer.
func (v *viewerFlags) viewer(ctx context.Context, c config.Config) (access.Viewer, error) {
	signedIn := v.given("groups") || v.authenticated
	switch bearer := v.given("token"); {
	case signedIn && bearer, signedIn && v.all, bearer && v.all:
		return access.Viewer{}, usage(errTwoViewers)
	case v.all:
		return access.Viewer{Operator: true}, nil
	case v.given("groups") && len(v.groups) == 0:
		return access.Viewer{}, usage(errors.New("--groups names no group"))
	case signedIn:
		return access.Member(v.groups)
	case bearer:
		return bearerOf(ctx, v.token, c.Viewers)
	}
	if t, set := os.LookupEnv(tokenEnv); set {
		return bearerOf(ctx, t, c.Viewers)
	}
	return access.Viewer{}, nil
}

func bearerOf(ctx context.Context, text string, o config.Viewers) (access.Viewer, error) {
	if o.Key == "" && o.JWKS == "" {
		return access.Viewer{}, fmt.Errorf("%w: name a key by --token-key or --token-jwks", errNoKey)
	}
	verifier, err := token.New(token.Options{
		Key: o.Key, JWKS: o.JWKS, Audience: o.Audience, Issuer: o.Issuer, GroupsClaim: o.GroupsClaim, Now: time.Now,
	})
	if err != nil {
		return access.Viewer{}, err
	}
	return verifier.Viewer(ctx, text)
}
