package clean

import "unicode/utf8"

const (
	esc = 0x1b
	bel = 0x07
	can = 0x18
	sub = 0x1a
	st  = 0x9c // string terminator as one C1 character
)

// kind tells the two forms of long sequences apart.
type kind int

const (
	controlSequence kind = iota + 1 // CSI: parameters and one final character
	controlString                   // DCS, SOS, OSC, PM, APC: anything up to a terminator
)

// stringOrCSI classifies the C1 characters that introduce long sequences
// (ECMA-48 5.3 and 8.3); 0 is none.
func stringOrCSI(r rune) kind {
	switch r {
	case 0x9b:
		return controlSequence
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return controlString
	}
	return 0
}

// sequence returns the length of the escape sequence that b begins with. A
// sequence that is not finished ends before the character that breaks it, so
// that no text after it is lost; an unfinished string ends with its line, as
// otherwise one introducer would hide all that follows.
func sequence(b []byte) int {
	r, at := utf8.DecodeRune(b)
	k := stringOrCSI(r)
	if r == esc {
		if at == len(b) {
			return at
		}
		// ESC and a character of 0x40–0x5f is the 7-bit form of a C1 character.
		k = stringOrCSI(rune(b[at]) + 0x40)
		if k == 0 || b[at] >= utf8.RuneSelf {
			return at + shortSequence(b[at:])
		}
		at++
	}
	if k == controlSequence {
		return at + csiBody(b[at:])
	}
	return at + stringBody(b[at:])
}

// shortSequence is what follows ESC otherwise: intermediates and one final.
func shortSequence(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f {
		i++
	}
	if i < len(b) && b[i] >= 0x30 && b[i] <= 0x7e {
		i++
	}
	return i
}

func csiBody(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
		i++
	}
	if i < len(b) && b[i] >= 0x40 && b[i] <= 0x7e {
		i++
	}
	return i
}

func stringBody(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch r {
		case bel, st, can, sub:
			return i + size
		case '\n', '\r':
			return i
		case esc:
			if i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
			return i // any other escape cancels the string
		}
		i += size
	}
	return len(b)
}
