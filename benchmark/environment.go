package benchmark

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/internal/secret"
)

// passed are the variables that a command gets as they are: where programs are
// found, language and time zone, compilers and their flags, thread counts and
// devices. Everything else that the user has set stays out, since keys and
// tokens come under any name.
var passed = []string{
	"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "TZ",
	"USER", "LOGNAME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
	"CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "MAKEFLAGS",
	"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_VERSION", "RUSTUP_TOOLCHAIN", "RUSTFLAGS",
	"JAVA_HOME", "GEM_HOME", "GEM_PATH", "NODE_ENV", "NVM_DIR", "NVM_BIN", "PYTHONHASHSEED",
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "GOMAXPROCS",
	"CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
}

// passedGo are the variables that go also takes from its own settings file,
// which it would not find under another HOME.
var passedGo = []string{
	"GOFLAGS", "GOTOOLCHAIN", "GOEXPERIMENT", "CGO_ENABLED", "GOAMD64", "GOARM64", "GODEBUG", "GOGC", "GOMEMLIMIT",
	"GOROOT", "GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB",
}

// defaultPath is where programs are when the user's PATH is not set.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Environment is the environment of set-up, benchmark and guard commands,
// sorted, so that it is equal byte for byte for two trees. host looks up the
// user's variables; home and tmp are the command's own HOME and TMPDIR; extra
// are further KEY=value pairs that the user named in settings.
//
// The download caches and installations of toolchains are those under the
// user's HOME. Build caches are not: they lie under home, where no agent writes.
// Variables that look like credentials, and git's, are never in it.
func Environment(host func(string) (string, bool), home, tmp string, extra []string) []string {
	env := map[string]string{"PATH": defaultPath}
	for _, key := range append([]string{"PATH"}, passed...) {
		if value, ok := host(key); ok && value != "" {
			env[key] = value
		}
	}
	addToolchains(env, host)
	for _, pair := range extra {
		if key, value, ok := strings.Cut(pair, "="); ok {
			env[key] = value
		}
	}
	env["HOME"], env["TMPDIR"] = home, tmp
	env["GOCACHE"] = filepath.Join(home, ".cache", "go-build")
	var list []string
	for key, value := range env {
		if !withheld(key) && !strings.ContainsRune(value, 0) {
			list = append(list, key+"="+value)
		}
	}
	slices.Sort(list)
	return list
}

// Caches are the folders of downloads and installations of toolchains that
// Environment names: what a set-up command fills.
func Caches(host func(string) (string, bool)) []string {
	env := map[string]string{}
	addToolchains(env, host)
	var dirs []string
	for _, name := range []string{"CARGO_HOME", "GOMODCACHE", "GRADLE_USER_HOME", "PIP_CACHE_DIR", "RUSTUP_HOME", "UV_CACHE_DIR", "npm_config_cache"} {
		if dir := env[name]; filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// NameOf is the name in KEY=value.
func NameOf(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	return name
}

// addToolchains sets what has its default below the user's HOME.
func addToolchains(env map[string]string, host func(string) (string, bool)) {
	userHome, _ := host("HOME")
	set := func(key string, below ...string) {
		if value, ok := host(key); ok && value != "" {
			env[key] = value
		} else if userHome != "" {
			env[key] = filepath.Join(append([]string{userHome}, below...)...)
		}
	}
	set("CARGO_HOME", ".cargo")
	set("RUSTUP_HOME", ".rustup")
	set("PYENV_ROOT", ".pyenv")
	set("PYTHONUSERBASE", ".local")
	set("npm_config_cache", ".npm")
	set("PIP_CACHE_DIR", ".cache", "pip")
	set("UV_CACHE_DIR", ".cache", "uv")
	set("GRADLE_USER_HOME", ".gradle")
	addGo(env, host, userHome)
}

func addGo(env map[string]string, host func(string) (string, bool), userHome string) {
	file := goSettings(host, userHome)
	get := func(key string) string {
		if value, ok := host(key); ok && value != "" {
			return value
		}
		return file[key]
	}
	for _, key := range passedGo {
		// A proxy's address can hold a password.
		if value := get(key); value != "" && !strings.Contains(value, "@") {
			env[key] = value
		}
	}
	gopath := get("GOPATH")
	if gopath == "" && userHome != "" {
		gopath = filepath.Join(userHome, "go")
	}
	modcache := get("GOMODCACHE")
	if first, _, _ := strings.Cut(gopath, string(os.PathListSeparator)); modcache == "" && first != "" {
		modcache = filepath.Join(first, "pkg", "mod")
	}
	if modcache != "" {
		env["GOMODCACHE"] = modcache
	}
	env["GOENV"] = "off" // what it says is in the environment already
}

// goSettings reads the file in which "go env -w" keeps settings, by go's own
// rules for where it is.
func goSettings(host func(string) (string, bool), userHome string) map[string]string {
	name, ok := host("GOENV")
	if !ok || name == "" {
		config, ok := host("XDG_CONFIG_HOME")
		if !ok || config == "" {
			config = filepath.Join(userHome, ".config")
		}
		name = filepath.Join(config, "go", "env")
	}
	values := map[string]string{}
	if name == "off" || !filepath.IsAbs(name) {
		return values
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return values // the file is optional, for go too
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return values
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			values[key] = value
		}
	}
	return values
}

// withheld reports whether a variable may hold a credential, leads to one, or is one of
// git's, which would point a command at another repository.
func withheld(name string) bool {
	upper := strings.ToUpper(name)
	return secret.Named(name) || slices.ContainsFunc([]string{"GIT_", "SSH_", "AWS_"}, func(start string) bool { return strings.HasPrefix(upper, start) })
}

// EnvFaults says which names of si.measure.env cannot be handed on, and why.
func EnvFaults(names []string) (faults []error) {
	for _, name := range names {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			faults = append(faults, fmt.Errorf("si.measure.env: %q is not the name of a variable", name))
		case withheld(name):
			faults = append(faults, fmt.Errorf("si.measure.env: %s may hold a credential, or is git's own, and is never handed to a benchmark; remove it", name))
		case slices.Contains([]string{"HOME", "TMPDIR", "GOCACHE", "GOENV"}, name):
			faults = append(faults, fmt.Errorf("si.measure.env: %s is set for every benchmark by si itself; remove it", name))
		}
	}
	return faults
}
