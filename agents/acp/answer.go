package acp

// maxAnswer is how many bytes of the model's words are kept, from their end: an
// answer comes last.
const maxAnswer = 4 << 20

// answer collects the words of the model in bounded memory.
type answer struct {
	text  []byte
	from  string // the message that the last words are a part of
	apart bool
}

// add appends a part of a message. Messages are set apart by an empty line.
func (a *answer) add(message, text string) {
	if text == "" {
		return
	}
	if len(a.text) > 0 && (a.apart || message != a.from) {
		a.text = append(a.text, "\n\n"...)
	}
	a.apart, a.from = false, message
	a.text = append(a.text, text...)
	if len(a.text) > 2*maxAnswer {
		a.text = append(a.text[:0], a.text[len(a.text)-maxAnswer:]...)
	}
}

// interrupt says that something else was done between two parts.
func (a *answer) interrupt() { a.apart = true }

func (a *answer) String() string { return string(a.text[max(0, len(a.text)-maxAnswer):]) }
