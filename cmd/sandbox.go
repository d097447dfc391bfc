package cmd

import (
	"context"

	"github.com/spf13/pflag"

	"si/internal/proc"
	"si/internal/sandbox"
	"si/track"
)

// addNoSandbox adds the flag that turns the sandbox off for one command.
func addNoSandbox(f *pflag.FlagSet) *bool {
	return f.Bool("no-sandbox", false, "run agents and benchmarks with your rights and your network, held by nothing")
}

// shut builds the sandbox in which agents and benchmarks run; nil when it is
// turned off by the flag, the track's settings or the user's configuration.
func shut(ctx context.Context, w World, run proc.Runner, off bool, settings track.Settings, user userConfig) *sandbox.Sandbox {
	if off || firstText(settings.SI.Sandbox, user.Sandbox) == "off" {
		return nil
	}
	return sandbox.New(ctx, sandbox.Options{Run: run, Self: w.Self, Path: w.env("PATH")})
}
