package tuner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// goFile collects the values of one Go file: constants, package variables, and
// the fields of struct literals. Local variables are left alone: they are mostly
// counters, and a local constant is how Go names a choice inside a function.
type goFile struct {
	text   string
	set    *token.FileSet
	sizes  []string // constants that are the length of an array with given elements
	places []place
}

func scanGo(text string) []place {
	f := &goFile{text: text, set: token.NewFileSet()}
	file, err := parser.ParseFile(f.set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil // does not compile: nothing can be measured either
	}
	ast.Inspect(file, f.collectSizes)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			f.declaration("", d)
		case *ast.FuncDecl:
			f.function(d)
		}
	}
	return f.places
}

func (f *goFile) collectSizes(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok || len(lit.Elts) == 0 {
		return true
	}
	if arr, ok := lit.Type.(*ast.ArrayType); ok {
		if id, ok := arr.Len.(*ast.Ident); ok {
			f.sizes = append(f.sizes, id.Name)
		}
	}
	return true
}

func (f *goFile) function(d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	prefix := d.Name.Name + "."
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				f.declaration(prefix, n)
			}
			return false
		case *ast.CompositeLit:
			f.fields(prefix, n)
		}
		return true
	})
}

// declaration takes const and var declarations. A block that counts, by iota or
// by hand, is an enumeration.
func (f *goFile) declaration(prefix string, d *ast.GenDecl) {
	if d.Tok != token.CONST && d.Tok != token.VAR || counts(d) {
		return
	}
	for _, s := range d.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || len(spec.Names) != len(spec.Values) {
			continue
		}
		for i, name := range spec.Names {
			if name.Name != "_" && !slices.Contains(f.sizes, name.Name) {
				f.value(prefix+name.Name, spec.Values[i])
			}
			f.literals(prefix+name.Name+".", spec.Values[i])
		}
	}
}

// literals takes the struct literals inside a declared value.
func (f *goFile) literals(prefix string, e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			f.fields(prefix, n)
		}
		return true
	})
}

// fields takes the fields of a struct literal with a named type. Elements without
// one are the rows of a table, and maps and arrays hold data.
func (f *goFile) fields(prefix string, lit *ast.CompositeLit) {
	switch lit.Type.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok {
			f.value(prefix+key.Name, kv.Value)
		}
	}
}

// value records e when it is a literal, a product or shift of literals, a
// conversion of one, or a literal times a unit such as time.Second.
func (f *goFile) value(name string, e ast.Expr) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		e = x.X
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		if !ok || len(x.Args) != 1 || wordFamily(id.Name) != "" {
			return
		}
		e = x.Args[0]
	case *ast.BinaryExpr:
		if _, ok := x.Y.(*ast.SelectorExpr); ok && x.Op == token.MUL {
			e = x.X
		}
	}
	if !constant(e) {
		return
	}
	from, to := f.set.Position(e.Pos()), f.set.Position(e.End())
	if from.Line != to.Line {
		return
	}
	f.places = append(f.places, place{name: name, line: from.Line, column: from.Column - 1, old: f.text[from.Offset:to.Offset]})
}

func constant(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT || x.Kind == token.FLOAT
	case *ast.Ident:
		return x.Name == "true" || x.Name == "false"
	case *ast.UnaryExpr:
		return x.Op == token.SUB && constant(x.X)
	case *ast.BinaryExpr:
		return (x.Op == token.MUL || x.Op == token.SHL) && constant(x.X) && constant(x.Y)
	}
	return false
}

// counts reports whether a constant block is an enumeration.
func counts(d *ast.GenDecl) bool {
	if d.Tok != token.CONST {
		return false
	}
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
			found = true
		}
		return !found
	})
	return found || consecutive(d.Specs)
}

// consecutive reports whether three or more constants are n, n+1, n+2…
func consecutive(specs []ast.Spec) bool {
	if len(specs) < 3 {
		return false
	}
	last := 0
	for i, s := range specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return false
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return false
		}
		n, err := strconv.Atoi(lit.Value)
		if err != nil || i > 0 && n != last+1 {
			return false
		}
		last = n
	}
	return true
}
