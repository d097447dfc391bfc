package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/viper"

	"si/plot"
	"si/track"
)

// userConfig is the user's own configuration: defaults for all repositories.
type userConfig struct {
	Agents      track.AgentOptions
	AgentEnv    []string // names of variables handed to agents
	WorktreeDir string
	Sandbox     string // auto or off
	ChartDPI    int    // dots per inch of progress.png; 0: the default
}

// defaultUserConfig is what holds without a file.
func defaultUserConfig() userConfig { return userConfig{} }

// loadUserConfig reads config.yaml (or .json, .toml) in the user's
// configuration folder, and the variables SI_AGENT, SI_CHART_DPI,
// SI_SANDBOX and SI_WORKTREE_DIR, which win over it.
func loadUserConfig(w World) (userConfig, error) {
	c := defaultUserConfig()
	dir, err := w.userDir("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return c, nil // without a home there is no user's configuration
	}
	v := viper.New()
	v.SetConfigName("config")
	v.AddConfigPath(dir)
	var missing viper.ConfigFileNotFoundError
	if err := v.ReadInConfig(); err != nil && !errors.As(err, &missing) {
		return c, fmt.Errorf("read the user's configuration in %s: %w; correct the file", dir, err)
	}
	if unknown := unknownKeys(v); len(unknown) > 0 {
		return c, fmt.Errorf("%s: unknown keys %s; known are agent, agent_env, agent_for, chart_dpi, fallbacks, sandbox, worktree_dir", v.ConfigFileUsed(), strings.Join(unknown, ", "))
	}
	c.Agents.Default, c.Agents.Roles = v.GetString("agent"), v.GetStringMapString("agent_for")
	c.Agents.Fallbacks = v.GetStringMapStringSlice("fallbacks")
	c.AgentEnv = v.GetStringSlice("agent_env")
	c.WorktreeDir = v.GetString("worktree_dir")
	c.Sandbox = v.GetString("sandbox")
	if c.ChartDPI, err = chartDPI(v, w); err != nil {
		return c, err
	}
	if s := w.env("SI_SANDBOX"); s != "" {
		c.Sandbox = s
	}
	if a := w.env("SI_AGENT"); a != "" {
		c.Agents.Default = a
	}
	if d := w.env("SI_WORKTREE_DIR"); d != "" {
		c.WorktreeDir = d
	}
	return c, c.Validate()
}

// chartDPI is the resolution of progress.png, 0 when none is wanted.
func chartDPI(v *viper.Viper, w World) (int, error) {
	where, text := v.ConfigFileUsed()+": chart_dpi", v.GetString("chart_dpi")
	if s := w.env("SI_CHART_DPI"); s != "" {
		where, text = "SI_CHART_DPI", s
	}
	if text == "" {
		return 0, nil
	}
	dpi, err := strconv.Atoi(text)
	if err != nil || dpi < plot.MinDPI || dpi > plot.MaxDPI {
		return 0, fmt.Errorf("%s: %q is not a whole number from %d to %d (dots per inch)", where, text, plot.MinDPI, plot.MaxDPI)
	}
	return dpi, nil
}

// Validate returns all problems at once, each with its field.
func (c userConfig) Validate() error {
	var errs []error
	if c.WorktreeDir != "" && !filepath.IsAbs(c.WorktreeDir) {
		errs = append(errs, fmt.Errorf("worktree_dir: %q is not an absolute path", c.WorktreeDir))
	}
	if c.Sandbox != "" && c.Sandbox != "auto" && c.Sandbox != "off" {
		errs = append(errs, fmt.Errorf("sandbox: %q is neither auto nor off", c.Sandbox))
	}
	for role, agent := range c.Agents.Roles {
		if agent == "" {
			errs = append(errs, fmt.Errorf("agent_for.%s: empty", role))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("the user's configuration: %w", errors.Join(errs...))
	}
	return nil
}

func unknownKeys(v *viper.Viper) []string {
	var out []string
	for _, k := range v.AllKeys() {
		if !slices.Contains([]string{"agent", "agent_env", "chart_dpi", "worktree_dir", "sandbox"}, k) && !strings.HasPrefix(k, "agent_for.") && !strings.HasPrefix(k, "fallbacks.") {
			out = append(out, k)
		}
	}
	return out
}
