package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	update = flag.Bool("update", false, "write the golden files anew")
	pages  = flag.String("pages", "", "a folder for the pages with their charts, to look at")
)

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("%s differs in line %d; 'go test -update' writes it anew\n got: %.300q\nwant: %.300q", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d; 'go test -update' writes it anew", path, len(g), len(w))
}

// pictures stand for the charts in a golden page: plot's tests are for those.
var pictures = regexp.MustCompile(`data:image/svg[^"]*`)

func TestGoldens(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Report
	}{{"rich", rich(t)}, {"empty", empty()}, {"hostile", hostile()}} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name+".md", Markdown(c.r))
			got := page(t, c.r)
			golden(t, c.name+".html", pictures.ReplaceAll(got, []byte("data:picture")))
			if *pages == "" {
				return
			}
			if err := os.WriteFile(filepath.Join(*pages, c.name+".html"), got, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func page(t *testing.T, r Report) []byte {
	t.Helper()
	got, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
