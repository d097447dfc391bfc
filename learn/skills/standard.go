package skills

import (
	"path/filepath"
	"time"

	"si/internal/durable"
)

// Where says for which place a library is opened. Base and Now are required.
type Where struct {
	Base    string // the state base, absolute
	Top     string // the checkout, absolute; "" outside of a repository
	Learned string // L/skills, from Top; "" for none
	Home    string // of the user, absolute; "" for none
	Store   *durable.Store
	Now     func() time.Time
}

// Standard is the library of a place: its two managed roots, and the folders in which
// other tools keep skills.
func Standard(w Where) Options {
	o := Options{Base: w.Base, Store: w.Store, Now: w.Now}
	if w.Top != "" && w.Learned != "" {
		o.Learned = filepath.Join(w.Top, filepath.FromSlash(w.Learned))
	}
	if filepath.IsAbs(w.Home) {
		o.External = append(o.External, filepath.Join(w.Home, ".agents", "skills"))
	}
	if w.Top != "" {
		o.External = append(o.External, filepath.Join(w.Top, ".agents", "skills"), filepath.Join(w.Top, ".claude", "skills"))
	}
	return o
}
