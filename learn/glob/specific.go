package glob

import "cmp"

// Specificity orders patterns by how few paths they mean, the more specific one
// greater. What counts, in this order: to be one path; the names at the start that
// are written out; the names anywhere that are; to have no **; the characters that
// are written out.
type Specificity struct {
	literal  bool
	leading  int
	plain    int
	shallow  bool
	explicit int
}

// Specificity of the pattern; of alternatives, that of the least specific one.
func (p Pattern) Specificity() Specificity {
	var least Specificity
	for i, a := range p.alts {
		s := a.specificity()
		if i == 0 || s.Compare(least) < 0 {
			least = s
		}
	}
	return least
}

func (a alternative) specificity() Specificity {
	s := Specificity{literal: a.literal, shallow: true}
	leading := true
	for _, seg := range a.segments {
		leading = leading && seg.plain
		if leading {
			s.leading++
		}
		if seg.plain {
			s.plain++
		}
		s.shallow = s.shallow && !seg.deep
		for _, t := range seg.tokens {
			if !t.star && t.single() {
				s.explicit++
			}
		}
	}
	return s
}

// Compare returns a number above 0 when s is the more specific one.
func (s Specificity) Compare(t Specificity) int {
	return cmp.Or(
		truth(s.literal)-truth(t.literal), s.leading-t.leading, s.plain-t.plain,
		truth(s.shallow)-truth(t.shallow), s.explicit-t.explicit,
	)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
