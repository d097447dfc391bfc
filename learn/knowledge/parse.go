package knowledge

import (
	"strings"

	"si/learn/strictyaml"
)

func parseEntry(v strictyaml.Value) (Entry, error) {
	e := Entry{Line: v.Line()}
	if id := v.Peek("id"); IsID(id) {
		v = v.Named("the entry " + id)
	}
	fields, err := v.Fields("id", "kind", "text", "confidence", "provenance", "used", "helpful", "outdated_reports", "applies_to", "supersedes")
	if err != nil {
		return e, err
	}
	for _, name := range []string{"id", "kind", "text", "confidence", "provenance"} {
		if _, ok := fields[name]; !ok {
			return e, v.Faultf("the key %s is missing", name)
		}
	}
	r := reader{fields: fields}
	e.ID, e.Kind, e.Text = r.text("id"), Kind(r.text("kind")), r.text("text")
	e.Confidence = read(&r, "confidence", strictyaml.Value.Number)
	e.Used, e.Helpful = read(&r, "used", strictyaml.Value.Count), read(&r, "helpful", strictyaml.Value.Count)
	e.OutdatedReports = read(&r, "outdated_reports", strictyaml.Value.Count)
	e.AppliesTo, e.Supersedes = read(&r, "applies_to", strictyaml.Value.Texts), read(&r, "supersedes", strictyaml.Value.Texts)
	e.Provenance = read(&r, "provenance", parseProvenance)
	if r.err != nil {
		return e, r.err
	}
	if err := e.check(); err != nil {
		// The fault is said where its key stands.
		name, what, _ := strings.Cut(err.Error(), ": ")
		if f, ok := fields[name]; ok {
			return e, f.Named("the entry "+e.ID+": "+name).Faultf("%s", what)
		}
		return e, v.Faultf("%s", err.Error())
	}
	return e, nil
}

// reader takes values out of fields until the first fault.
type reader struct {
	fields map[string]strictyaml.Value
	err    error
}

func read[T any](r *reader, name string, get func(strictyaml.Value) (T, error)) T {
	var out T
	v, ok := r.fields[name]
	if !ok || r.err != nil {
		return out
	}
	out, r.err = get(v)
	return out
}

func (r *reader) text(name string) string { return read(r, name, strictyaml.Value.Text) }

func parseProvenance(v strictyaml.Value) ([]Provenance, error) {
	items, err := v.List()
	if err != nil {
		return nil, err
	}
	var out []Provenance
	for _, item := range items {
		fields, err := item.Fields("source", "reference")
		if err != nil {
			return nil, err
		}
		r := reader{fields: fields}
		out = append(out, Provenance{r.text("source"), r.text("reference")})
		if r.err != nil {
			return nil, r.err
		}
		if len(fields) < 2 {
			return nil, item.Faultf("source and reference are both needed")
		}
	}
	return out, nil
}
