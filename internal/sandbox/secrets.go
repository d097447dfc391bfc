package sandbox

import (
	"path/filepath"
	"strings"
)

// User is whose machine it is: what there is to hide. Env is the environment of
// this program, not of a command.
type User struct {
	Home string
	Env  []string
}

// secretsInHome are files and folders with credentials, and with what agents were
// told and allowed. Patterns are those of filepath.Match.
func secretsInHome() []string {
	return []string{
		".ssh", ".gnupg", ".pki", ".password-store", ".netrc", ".authinfo*", ".git-credentials", ".config/git/credentials",
		".aws", ".azure", ".config/gcloud", ".kube", ".oci", ".config/doctl", ".config/hcloud", ".fly", ".terraform.d", ".terraformrc",
		".docker/config.json", ".docker/run", ".docker/desktop", ".config/containers/auth.json", ".config/gh", ".config/hub", ".config/glab-cli",
		".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials*", ".gem/credentials", ".composer/auth.json", ".m2/settings*.xml",
		".gradle/gradle.properties", ".nuget/NuGet", ".config/pip", ".huggingface", ".cache/huggingface/token", ".config/huggingface",
		".claude*", ".config/claude*", ".codex", ".gemini", ".config/opencode", ".local/share/opencode", ".config/goose", ".aider*",
		".cursor", ".config/github-copilot", ".continue", ".ollama/id_*",
		".config/si", ".local/share/keyrings", ".local/share/kwalletd", ".mozilla", ".config/chromium", ".config/google-chrome", ".thunderbird",
		".bash_history", ".zsh_history", ".python_history", ".psql_history", ".pgpass", ".my.cnf", ".vault-token", ".s3cfg", ".config/rclone",
	}
}

// services are places with sockets over which something outside of the sandbox would
// do work for a command: a container engine, systemd, a key agent, a desktop session.
// X11 has its own below the shared folders for temporary files, which are private.
func services() []string {
	return []string{"/run", "/var/run", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket"}
}

// programsInRun are what some distributions keep below /run besides: programs and
// libraries.
func programsInRun() []string {
	return []string{"/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver", "/run/opengl-driver-32"}
}

// nameResolution is what of the hidden services' folders a command with network needs.
func nameResolution() []string { return []string{"/run/systemd/resolve"} }

// hidden lists what the commands of a benchmark or an agent have no business with.
// Paths that are not there are left out when the profile is used.
func (u User) hidden() []string {
	var out []string
	if filepath.IsAbs(u.Home) {
		for _, name := range secretsInHome() {
			if !strings.ContainsAny(name, "*?[") {
				out = append(out, filepath.Join(u.Home, name))
				continue
			}
			found, err := filepath.Glob(filepath.Join(quotePattern(u.Home), name))
			if err == nil { // a pattern of the table is a good one
				out = append(out, found...)
			}
		}
	}
	out = append(out, services()...)
	return append(out, u.agentSockets()...)
}

// agentSockets are the sockets of key agents, of the session bus and of container
// engines that the environment names.
func (u User) agentSockets() []string {
	var out []string
	for _, e := range u.Env {
		name, value, _ := strings.Cut(e, "=")
		switch name {
		case "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR":
		case "GPG_AGENT_INFO":
			value, _, _ = strings.Cut(value, ":")
		case "DBUS_SESSION_BUS_ADDRESS":
			_, value, _ = strings.Cut(value, "unix:path=")
			value, _, _ = strings.Cut(value, ",")
		case "DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS":
			value = strings.TrimPrefix(value, "unix://")
		default:
			continue
		}
		if filepath.IsAbs(value) && filepath.Clean(value) != "/" {
			out = append(out, value)
		}
	}
	return out
}

// quotePattern makes a folder's name match itself.
func quotePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
