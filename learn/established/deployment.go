package established

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Deployment is what a repository's files say that a merge to its main branch sets
// off. It is what an agent must know before it calls a change harmless.
type Deployment struct {
	Class string // OnMerge, OnTag, ByHand or NoneSeen
	Seen  string // the file that says so, "" for none
}

// The classes, the most consequential first.
const (
	OnMerge  = "on-merge"  // a push to a branch deploys or publishes
	OnTag    = "on-tag"    // a tag or a release does
	ByHand   = "by-hand"   // a person starts it
	NoneSeen = "none-seen" // no file says so, which proves nothing of what stands elsewhere
)

// DeploymentPaths are the files that FindDeployment wants to read, of all of a tree.
func DeploymentPaths(tree []string) []string {
	return slices.DeleteFunc(slices.Clone(tree), func(name string) bool {
		return !isWorkflow(name) && !isGitLab(name) && !slices.Contains(boundToPush(), name) && !slices.Contains(byHand(), name) && !isReleaser(name)
	})
}

// boundToPush are the files of services that build what is pushed to a branch.
func boundToPush() []string { return []string{"netlify.toml", "vercel.json", "render.yaml"} }

// byHand are the files of tools that a person runs, where no workflow does.
func byHand() []string {
	return []string{"fly.toml", "app.yaml", "serverless.yml", "wrangler.toml", "Procfile", "firebase.json", "skaffold.yaml", "Chart.yaml"}
}

func isReleaser(name string) bool { return name == ".goreleaser.yml" || name == ".goreleaser.yaml" }

func isGitLab(name string) bool { return name == ".gitlab-ci.yml" }

func isWorkflow(name string) bool {
	return path.Dir(name) == ".github/workflows" && (path.Ext(name) == ".yml" || path.Ext(name) == ".yaml")
}

// FindDeployment returns the most consequential class that the files show; files are
// those of DeploymentPaths, with their text. It reads them and runs nothing; what
// cannot be read as YAML shows nothing.
func FindDeployment(files map[string][]byte) Deployment {
	best := Deployment{Class: NoneSeen}
	order := []string{OnMerge, OnTag, ByHand, NoneSeen}
	for _, name := range sortedNames(files) {
		class := classOf(name, files[name])
		if slices.Index(order, class) < slices.Index(order, best.Class) {
			best = Deployment{class, name}
		}
	}
	return best
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func classOf(name string, data []byte) string {
	switch {
	case isWorkflow(name):
		return workflowClass(data)
	case isGitLab(name):
		return gitLabClass(data)
	case slices.Contains(boundToPush(), name):
		return OnMerge
	case isReleaser(name), slices.Contains(byHand(), name):
		return ByHand
	}
	return NoneSeen
}

// workflow is what is read of a GitHub workflow.
type workflow struct {
	On   any            `yaml:"on"`
	Jobs map[string]job `yaml:"jobs"`
}

type job struct {
	Environment any    `yaml:"environment"`
	Uses        string `yaml:"uses"`
	Steps       []struct {
		Uses string `yaml:"uses"`
		Run  string `yaml:"run"`
	} `yaml:"steps"`
}

func workflowClass(data []byte) string {
	var w workflow
	if yaml.Unmarshal(data, &w) != nil {
		return NoneSeen
	}
	for name, j := range w.Jobs {
		if j.deploys(name) {
			return triggerClass(w.On)
		}
	}
	return NoneSeen
}

// deploys tells whether a job hands something out: it names an environment, which is
// how GitHub calls it, or does it by its words.
func (j job) deploys(name string) bool {
	if j.Environment != nil || says(name, "deploy", "publish") || says(j.Uses, "deploy", "publish") {
		return true
	}
	for _, s := range j.Steps {
		if says(s.Uses, "deploy", "publish", "goreleaser", "action-gh-release") || says(s.Run, "deploy", "npm publish", "cargo publish", "twine upload", "docker push", "goreleaser", "gh release create", "kubectl apply", "helm upgrade", "terraform apply") {
			return true
		}
	}
	return false
}

func says(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// triggerClass is what starts a workflow: a name, a list of names, or a map of them.
func triggerClass(on any) string {
	events := map[string]any{}
	switch v := on.(type) {
	case string:
		events[v] = nil
	case []any:
		for _, name := range v {
			events[fmt.Sprint(name)] = nil
		}
	case map[string]any:
		events = v
	}
	push, pushed := events["push"]
	_, released := events["release"]
	filter, _ := push.(map[string]any)
	switch tags, branches := filter["tags"] != nil, filter["branches"] != nil || filter["branches-ignore"] != nil; {
	case pushed && (branches || !tags):
		return OnMerge
	case pushed || released:
		return OnTag
	}
	return ByHand
}

// gitLabClass reads the jobs that name an environment or stand in a stage of that
// name.
func gitLabClass(data []byte) string {
	var jobs map[string]any
	if yaml.Unmarshal(data, &jobs) != nil {
		return NoneSeen
	}
	best := NoneSeen
	for name, value := range jobs {
		j, ok := value.(map[string]any)
		if !ok || strings.HasPrefix(name, ".") || j["environment"] == nil && !says(fmt.Sprint(j["stage"]), "deploy") {
			continue
		}
		rules := fmt.Sprint(j["rules"], j["only"])
		switch {
		case j["when"] == "manual" || strings.Contains(rules, "when:manual"):
			if best == NoneSeen {
				best = ByHand
			}
		case strings.Contains(rules, "CI_COMMIT_TAG") || strings.Contains(rules, "tags"):
			best = OnTag
		default:
			return OnMerge
		}
	}
	return best
}
