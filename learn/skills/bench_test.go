package skills

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"si/internal/durable"
)

// manySkills makes n skills, written long enough ago to be believed.
func manySkills(tb testing.TB, n int) Options {
	tb.Helper()
	o := Options{Base: filepath.Join(tb.TempDir(), "base"), Now: time.Now}
	counted := &telemetry{Skills: map[string]*record{}}
	old := time.Now().Add(-time.Hour)
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		dir := filepath.Join(o.Base, "skills", name)
		text := file(fmt.Sprintf("name: %s\ndescription: Does the thing number %d, and is to be used when that thing has to be done.\nmetadata:\n  created_by: agent\n  category: c%d\n", name, i, i%10), "\nStep by step.\n")
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fileName), []byte(text), 0o644)
		}
		if err == nil {
			err = os.Chtimes(filepath.Join(dir, fileName), old, old)
		}
		if err != nil {
			tb.Fatal(err)
		}
		counted.born(name, old)
	}
	r, err := openRooted(filepath.Join(o.Base, "skills"), durable.Hooks{})
	if err != nil {
		tb.Fatal(err)
	}
	defer r.close()
	if err := counted.save(r); err != nil {
		tb.Fatal(err)
	}
	time.Sleep(settled) // the change time cannot be set back
	return o
}

// BenchmarkIndexCold reads a library of 10,000 skills; the promise is under 1 s.
func BenchmarkIndexCold(b *testing.B) {
	o := manySkills(b, 10_000)
	for b.Loop() {
		benchList(b, o, nil)
	}
}

// BenchmarkIndexWarm asks again; the promise is under 50 ms.
func BenchmarkIndexWarm(b *testing.B) {
	o := manySkills(b, 10_000)
	l := benchList(b, o, nil)
	for b.Loop() {
		benchList(b, o, l)
	}
}

func benchList(b *testing.B, o Options, l *Library) *Library {
	b.Helper()
	if l == nil {
		var err error
		if l, err = Open(o); err != nil {
			b.Fatal(err)
		}
	}
	listing, err := l.List()
	if err != nil || len(listing.Skills) != 10_000 || len(listing.Broken) > 0 {
		b.Fatal(len(listing.Skills), err)
	}
	return l
}

// BenchmarkBackup writes and verifies 100 MB, half of it text; the promise is under
// 10 s. Its memory is what -benchmem says, for any size.
func BenchmarkBackup(b *testing.B) {
	l, err := Open(Options{Base: b.TempDir(), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{})
	for i := range 100 {
		data := make([]byte, 1<<20)
		_, _ = random.Read(data) // never fails
		for j := 0; i%2 == 0 && j < len(data); j++ {
			data[j] = 'a' + data[j]%16
		}
		path := filepath.Join(l.Dir(), fmt.Sprintf("s%d", i), "asset")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(100 << 20)
	for b.Loop() {
		if _, err := l.backup(); err != nil {
			b.Fatal(err)
		}
	}
}
