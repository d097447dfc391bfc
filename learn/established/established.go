// Package established writes down once what set-up found out about a repository: how
// it is tested, built and measured, and how it is deployed. The file is read into
// every prompt as it stands, and people and retrospectives mend it; nothing here reads
// it back.
package established

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"si/internal/clean"
	"si/learn/place"
)

// maxValue bounds one value, in code points.
const maxValue = 1000

// Facts are what set-up established; what it did not is left out.
type Facts struct {
	Test       string // command
	Build      string // command that prepares a fresh checkout
	Benchmark  string // command
	Deployment Deployment
}

const head = `# What set-up established about this repository. It stands in every prompt, so that no
# agent has to find it out again. Mend it where it is wrong: si does not write it again.
`

// Seed writes the file when there is none, and something to say.
func Seed(ctx context.Context, p place.Place, f Facts) (written bool, err error) {
	text, err := f.Text()
	if err != nil || text == nil {
		return false, err
	}
	release, err := p.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	err = p.Edit(p.Config(), func(old []byte) ([]byte, error) {
		if old != nil {
			return old, nil
		}
		written = true
		return text, nil
	})
	return written, err
}

// Text is the file, nil when nothing was established.
func (f Facts) Text() ([]byte, error) {
	type named struct{ key, value string }
	doc := &yaml.Node{Kind: yaml.MappingNode}
	for _, n := range []named{{"test_command", f.Test}, {"build_command", f.Build}, {"benchmark_command", f.Benchmark}, {"deployment_class", f.Deployment.Class}, {"deployment_seen_in", f.Deployment.Seen}} {
		value := strings.TrimSpace(clean.Line(n.value, maxValue))
		if value == "" {
			continue
		}
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: n.key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value})
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	b.WriteString(head)
	enc := yaml.NewEncoder(&b)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return nil, fmt.Errorf("write down what set-up established: %w", err)
	}
	return b.Bytes(), nil
}
