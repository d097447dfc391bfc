package glob

import (
	"errors"
	"fmt"
)

var (
	errBrace   = errors.New("a { without its }; write \\{ for the character itself")
	errBracket = errors.New("a [ without its ]; write \\[ for the character itself")
	errEscape  = errors.New("a backslash at the end")
)

// expand returns the patterns without braces that text stands for, in order.
func expand(text string) ([]string, error) {
	done, open := []string(nil), []string{text}
	for len(open) > 0 {
		if len(done)+len(open) > maxAlternatives {
			return nil, fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
		}
		form := open[0]
		open = open[1:]
		start, end, commas, err := brace(form)
		if err != nil {
			return nil, err
		}
		if start < 0 {
			done = append(done, form)
			continue
		}
		var forms []string
		from := start + 1
		for _, to := range append(commas, end) {
			forms = append(forms, form[:start]+form[from:to]+form[end+1:])
			from = to + 1
		}
		open = append(forms, open...)
	}
	return done, nil
}

// brace finds the first brace with its end and the commas on its own level;
// start is -1 when there is none.
func brace(form string) (start, end int, commas []int, err error) {
	start, depth := -1, 0
	for i := 0; i < len(form); i++ {
		switch form[i] {
		case '\\', '[':
			if i, err = skip(form, i); err != nil {
				return 0, 0, nil, err
			}
		case '{':
			if depth == 0 {
				start = i
			}
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return start, i, commas, nil
			}
			depth = max(depth, 0) // a } alone is a character
		}
	}
	if depth > 0 {
		return 0, 0, nil, errBrace
	}
	return -1, 0, nil, nil
}

// skip returns the last byte of the escape or the class that begins at i.
func skip(form string, i int) (int, error) {
	if form[i] == '\\' {
		if i+1 == len(form) {
			return 0, errEscape
		}
		return i + 1, nil
	}
	for j := i + 1; j < len(form); j++ {
		switch form[j] {
		case '\\':
			j++
		case ']':
			if j > i+1 {
				return j, nil
			}
		}
	}
	return 0, errBracket
}
