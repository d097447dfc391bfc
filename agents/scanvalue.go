package agents

// string reads a text in double quotes.
func (s *scanner) string() *scanFault {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\n' || c == '\r':
			return s.fault(`a line break inside a text: write \n`)
		case c < ' ':
			return s.fault(`a control character inside a text: write it as \u00XX`)
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		}
	}
	return s.fault("")
}

// escape reads what follows a backslash and stops on its last byte.
func (s *scanner) escape() *scanFault {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if !hexDigit(s.peek()) {
				return s.fault(`want four hexadecimal digits after \u`)
			}
		}
		return nil
	}
	return s.fault(`not an escape of JSON: write a backslash as \\`)
}

func (s *scanner) number() *scanFault {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() *scanFault {
	if !digit(s.peek()) {
		return s.fault("not a JSON number: write it as -12.5 or 1e-3, unknown as null")
	}
	for digit(s.peek()) {
		s.pos++
	}
	return nil
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func hexDigit(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
