package benchmark

import (
	"path"
	"strings"
)

// runnerNames are files that the usual runners, interpreters and build tools
// read by themselves, wherever they find them, and that can change what a
// benchmark runs or reports without being named in its command. Lower case.
var runnerNames = []string{
	// Python: test runner, interpreter start, environments; .gitattributes below changes what a checkout holds.
	"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "setup.cfg", "setup.py", "pyproject.toml", "tox.ini", "noxfile.py",
	"sitecustomize.py", "usercustomize.py", "pyvenv.cfg", ".python-version", ".coveragerc",
	// Modules that a harness imports and that a file beside it would replace.
	"pytest.py", "pytest_benchmark.py", "timeit.py", "json.py", "random.py", "statistics.py",
	// JavaScript
	"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".babelrc", ".nvmrc", ".node-version", "bunfig.toml",
	// Make and its kin, C and C++
	"makefile", "gnumakefile", "bsdmakefile", "cmakelists.txt", "cmakepresets.json", "meson.build", "configure",
	"justfile", ".justfile", "rakefile", "taskfile.yml", "taskfile.yaml", ".bazelrc",
	// Rust
	"build.rs", "cargo.toml", "rust-toolchain", "rust-toolchain.toml", "clippy.toml", "criterion.toml",
	// Go
	"go.mod", "go.work", "go.env",
	// JVM
	"build.gradle", "build.gradle.kts", "settings.gradle", "gradle.properties", "pom.xml",
	// Environments and git's own attributes
	".envrc", ".env", ".tool-versions", "mise.toml", ".mise.toml", ".gitattributes", ".gitmodules", ".lfsconfig",
}

// runnerGlobs are the same for names with a variable part.
var runnerGlobs = []string{
	"*.pth", "*.mk", "*.cmake", ".env.*", ".golangci.*", ".mocharc*", "jest.config.*", "vitest.config.*", "vite.config.*",
	"babel.config.*", "webpack.config.*", "playwright.config.*", "*_test.go", "test_*.py", "*_test.py",
}

// runnerFolders are folders whose whole content is such configuration.
var runnerFolders = []string{".cargo", ".mvn", ".bundle", ".vscode", ".config"}

// RunnerFiles are those of the changed paths that a runner reads by itself, in
// their order. A candidate that changes one gets a warning, or is refused when
// settings say strict; they are no seals, since many honest changes need them.
func RunnerFiles(paths []string) []string {
	var found []string
	for _, p := range paths {
		if isRunnerFile(strings.ToLower(p)) {
			found = append(found, p)
		}
	}
	return found
}

func isRunnerFile(p string) bool {
	name := path.Base(p)
	for _, known := range runnerNames {
		if name == known {
			return true
		}
	}
	for _, glob := range runnerGlobs {
		if ok, err := path.Match(glob, name); err == nil && ok {
			return true
		}
	}
	for _, folder := range runnerFolders {
		if strings.HasPrefix(p, folder+"/") || strings.Contains(p, "/"+folder+"/") {
			return true
		}
	}
	return false
}
