package established

import (
	"slices"
	"strings"
	"testing"
)

// TestDeployment: what the files show, and no more.
func TestDeployment(t *testing.T) {
	const job = "jobs:\n  ship:\n    environment: production\n"
	workflow := func(text string) map[string]string { return map[string]string{".github/workflows/w.yml": text} }
	gitLab := func(text string) map[string]string { return map[string]string{".gitlab-ci.yml": text} }
	for name, c := range map[string]struct {
		files map[string]string
		want  Deployment
	}{
		"nothing":                   {map[string]string{"Dockerfile": "FROM x", "sub/fly.toml": ""}, Deployment{NoneSeen, ""}},
		"tests alone":               {workflow("on: push\njobs:\n  test:\n    steps: [{run: make test}]\n"), Deployment{NoneSeen, ""}},
		"an environment":            {workflow("on: push\n" + job), Deployment{OnMerge, ".github/workflows/w.yml"}},
		"of one branch":             {workflow("on: {push: {branches: [main], tags: [v*]}}\n" + job), Deployment{OnMerge, ".github/workflows/w.yml"}},
		"of tags":                   {workflow("on: {push: {tags: [v*]}}\n" + job), Deployment{OnTag, ".github/workflows/w.yml"}},
		"of a release":              {workflow("on: [release, workflow_dispatch]\n" + job), Deployment{OnTag, ".github/workflows/w.yml"}},
		"by hand":                   {workflow("on: workflow_dispatch\n" + job), Deployment{ByHand, ".github/workflows/w.yml"}},
		"a step that publishes":     {workflow("on: push\njobs:\n  a:\n    steps: [{run: \"npm ci\\nnpm publish\"}]\n"), Deployment{OnMerge, ".github/workflows/w.yml"}},
		"an action that deploys":    {workflow("on: push\njobs:\n  a:\n    steps: [{uses: actions/deploy-pages@v4}]\n"), Deployment{OnMerge, ".github/workflows/w.yml"}},
		"broken YAML":               {workflow("on: push\njobs: ["), Deployment{NoneSeen, ""}},
		"a bomb of aliases":         {workflow(bomb()), Deployment{NoneSeen, ""}},
		"a service bound to a push": {map[string]string{"fly.toml": "", "netlify.toml": ""}, Deployment{OnMerge, "netlify.toml"}},
		"a tool alone":              {map[string]string{"fly.toml": ""}, Deployment{ByHand, "fly.toml"}},
		"a releaser":                {map[string]string{".goreleaser.yml": ""}, Deployment{ByHand, ".goreleaser.yml"}},
		"the strictest of several":  {map[string]string{"fly.toml": "", ".github/workflows/a.yaml": "on: release\n" + job}, Deployment{OnTag, ".github/workflows/a.yaml"}},
		"GitLab":                    {gitLab("stages: [test, deploy]\nship: {stage: deploy, script: [x]}\n"), Deployment{OnMerge, ".gitlab-ci.yml"}},
		"GitLab, a tag":             {gitLab("ship: {environment: p, rules: [{if: $CI_COMMIT_TAG}]}\n"), Deployment{OnTag, ".gitlab-ci.yml"}},
		"GitLab, by hand":           {gitLab("ship: {environment: p, when: manual}\n"), Deployment{ByHand, ".gitlab-ci.yml"}},
		"GitLab, by hand by a rule": {gitLab("ship: {environment: p, rules: [{when: manual}]}\n"), Deployment{ByHand, ".gitlab-ci.yml"}},
		"GitLab, a template":        {gitLab(".ship: {environment: p}\ntest: {script: [x]}\n"), Deployment{NoneSeen, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var tree []string
			for f := range c.files {
				tree = append(tree, f)
			}
			slices.Sort(tree)
			files := map[string][]byte{}
			for _, f := range DeploymentPaths(tree) {
				files[f] = []byte(c.files[f])
			}
			if got := FindDeployment(files); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// bomb is a document that grows by a factor of ten with each line.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i, last := 'b', "a0"; i < 'm'; i++ {
		name := string(i)
		b.WriteString(name + ": &" + name + " [" + strings.TrimSuffix(strings.Repeat("*"+last+",", 10), ",") + "]\n")
		last = name
	}
	return b.String() + "on: *l\njobs: {deploy: {environment: *l}}\n"
}
