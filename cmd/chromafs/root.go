package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/chromafs/chromafs/config"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "chromafs",
		Short:         "Documentation as a read-only filesystem over Chroma",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("chromafs {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.Args = func(cmd *cobra.Command, args []string) error { return usage(cobra.NoArgs(cmd, args)) }
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.AddCommand(newIngest(), newVerify(), newAccess())
	return root
}

// version is the module version that the binary was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version
}

// usage marks an error of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errUsage, err)
}

// atMostOneFolder are the arguments of every command that takes DIR.
func atMostOneFolder(cmd *cobra.Command, args []string) error {
	return usage(cobra.MaximumNArgs(1)(cmd, args))
}

// bindSettings gives the command of that name a flag for each setting that it takes, and --config.
func bindSettings(cmd *cobra.Command, name string) {
	f := cmd.Flags()
	for _, s := range config.Settings {
		if s.Commands != nil && !slices.Contains(s.Commands, name) {
			continue
		}
		usage := s.Usage
		if s.Default != "" {
			usage += " (default " + s.Default + ")"
		}
		f.String(s.Key, "", usage)
	}
	f.String("config", "", "configuration file (default "+config.DefaultFile+")")
}

// settings resolves what the flags, the environment and the file say.
func settings(cmd *cobra.Command) (config.Config, error) {
	src := config.Source{Getenv: os.Getenv, Flags: map[string]string{}, Path: os.Getenv("CHROMAFS_CONFIG")}
	src.Explicit = src.Path != ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "config" {
			src.Path, src.Explicit = f.Value.String(), true
			return
		}
		src.Flags[f.Name] = f.Value.String()
	})
	return config.Load(src)
}

// folder is the documentation folder: the argument, or the configured one.
func folder(args []string, c config.Config) string {
	if len(args) > 0 {
		return args[0]
	}
	return c.Docs
}
