package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"

	"si/track"
)

// Generate renders the reference from the source file of the settings.
func Generate(source string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
	if err != nil {
		return "", fmt.Errorf("read the settings' types: %w", err)
	}
	structs := map[string]*ast.StructType{}
	docs := map[string]string{}
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if s, ok := t.Type.(*ast.StructType); ok {
				structs[t.Name.Name], docs[t.Name.Name] = s, g.Doc.Text()
			}
		}
	}
	defaults, err := defaultValues()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(intro)
	writeTable(&b, structs, docs, "Settings", "", defaults)
	return b.String(), nil
}

const intro = `# Configuration

<!-- made by "go run ./internal/configdoc > docs/configuration.md"; do not edit -->

A track's settings lie in ` + "`config/settings.json`" + ` below the track's root (` + "`si paths`" + ` prints it). The file is
read again at the start of every round; a change is an event in the history. Keys that si does not know are kept.

The user's own defaults for all repositories lie in ` + "`config.yaml`" + ` in the folder ` + "`si`" + ` of the user's configuration
(` + "`$XDG_CONFIG_HOME`" + ` or ` + "`~/.config`" + `): ` + "`agent`" + `, ` + "`agent_for`" + ` (by role), ` + "`fallbacks`" + ` (lists, by role or ` + "`default`" + `),
` + "`agent_env`" + ` (names of variables handed to agents), ` + "`sandbox`" + ` (auto or off), ` + "`worktree_dir`" + ` (absolute)
and ` + "`chart_dpi`" + ` (dots per inch of the chart's PNG, 24 to 600, 144 unless told). ` + "`prices.json`" + ` beside it holds
prices of models, which win over the built-in ones (docs/agents.md).
The variables ` + "`SI_AGENT`" + `, ` + "`SI_CHART_DPI`" + `, ` + "`SI_SANDBOX`" + ` and ` + "`SI_WORKTREE_DIR`" + ` win over that file, the track's settings over both, flags over all.

`

// defaultValues are the defaults of a new track, by key.
func defaultValues() (map[string]json.RawMessage, error) {
	data, err := json.Marshal(track.DefaultSettings())
	if err != nil {
		return nil, fmt.Errorf("encode the defaults: %w", err)
	}
	var m map[string]json.RawMessage
	return m, json.Unmarshal(data, &m)
}

// writeTable writes one struct and, below it, the structs of its fields.
func writeTable(b *strings.Builder, structs map[string]*ast.StructType, docs map[string]string, name, prefix string, defaults map[string]json.RawMessage) {
	title := "settings.json"
	if prefix != "" {
		title = strings.TrimSuffix(prefix, ".")
	}
	fmt.Fprintf(b, "## `%s`\n\n%s\n| key | type | default | meaning |\n|---|---|---|---|\n", title, docs[name])
	var below []func()
	for _, f := range structs[name].Fields.List {
		key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		typ := typeName(f.Type)
		value := ""
		if d, ok := defaults[key]; ok && prefix == "" && key != "si" {
			value = "`" + string(d) + "`"
		}
		inner := strings.TrimPrefix(typ, "[]")
		if structs[inner] != nil && inner != "Threshold" {
			list := ""
			if inner != typ {
				list = "[]"
			}
			below = append(below, func() { writeTable(b, structs, docs, inner, prefix+key+list+".", nil) })
			typ = "object, below"
			if list != "" {
				typ = "list of objects, below"
			}
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", prefix, key, jsonType(typ), value, strings.TrimSpace(f.Comment.Text()))
	}
	b.WriteByte('\n')
	for _, write := range below {
		write()
	}
}

func typeName(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.ArrayType:
		return "[]" + typeName(t.Elt)
	case *ast.MapType:
		return "map"
	}
	return "?"
}

func jsonType(name string) string {
	switch name {
	case "bool":
		return "true or false"
	case "int", "uint64":
		return "whole number"
	case "float64":
		return "number"
	case "string", "Direction":
		return "text"
	case "[]string":
		return "list of texts"
	case "map":
		return "object of texts"
	case "Threshold":
		return "text or number"
	}
	return name
}
