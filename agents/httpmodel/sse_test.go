package httpmodel

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads a stream to its end.
func readAll(in io.Reader) (events []string, err error) {
	s := NewStream(in)
	for {
		e, err := s.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e.Name+"|"+string(e.Data))
	}
}

func TestStream(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "data: a\n\ndata: b\n\n", "|a;|b"},
		{"names", "event: x\ndata: a\n\ndata: b\n\n", "x|a;|b"},
		{"no blank after the colon", "data:a\n\n", "|a"},
		{"two blanks", "data:  a\n\n", "| a"},
		{"CR LF", "event: x\r\ndata: a\r\n\r\n", "x|a"},
		{"several lines", "data: a\ndata: b\n\n", "|a\nb"},
		{"comments and other fields", ": ping\n\nid: 1\nretry: 3\ndata: a\n\n", "|a"},
		{"an event without data", "event: x\n\ndata: a\n\n", "|a"},
		{"empty data", "data:\n\n", "|"},
		{"no end of the last event", "data: a\n\ndata: b\n", "|a;|b"},
		{"no end of the last line", "data: a\n\ndata: b", "|a;|b"},
		{"nothing", "", ""},
		{"blank lines", "\n\n\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(tc.in), iotest.OneByteReader(strings.NewReader(tc.in))} {
				got, err := readAll(in)
				if strings.Join(got, ";") != tc.want || !errors.Is(err, io.EOF) {
					t.Errorf("events %q, error %v; want %q", got, err, tc.want)
				}
			}
		})
	}
}

func TestStreamsAreBounded(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   io.Reader
		want string
	}{
		{"a line", io.LimitReader(zeros{'x'}, 200<<20), "a line of more than"},
		{"an event", repeated("data: "+strings.Repeat("x", 1000)+"\n", 200<<20), "an event of more than"},
		{"a stream", repeated(": "+strings.Repeat("x", 1000)+"\n\n", 200<<20), "a reply of more than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := readAll(tc.in)
			var malformed *MalformedError
			if !errors.As(err, &malformed) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// zeros is an endless reader of one byte.
type zeros struct{ b byte }

func (z zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = z.b
	}
	return len(p), nil
}

// repeated gives text again and again, up to n bytes.
func repeated(text string, n int64) io.Reader {
	return io.LimitReader(&repeater{text: []byte(text)}, n)
}

type repeater struct {
	text []byte
	at   int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n += c
		r.at = (r.at + c) % len(r.text)
	}
	return n, nil
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("event: x\ndata: {}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data\n\n\r\n:\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(bytes.NewReader(in))
		if !errors.Is(err, io.EOF) {
			t.Fatalf("error %v", err)
		}
		torn, err := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if !errors.Is(err, io.EOF) || strings.Join(whole, "\x00") != strings.Join(torn, "\x00") {
			t.Errorf("in pieces %q, %v; whole %q", torn, err, whole)
		}
	})
}

func TestRefusalsOfAllShapesAreRead(t *testing.T) {
	for _, tc := range []struct{ body, code, said string }{
		{`{"error":{"message":"no","type":"a","code":"b"}}`, "a b", "no"},
		{`{"error":{"message":"no","type":"a","code":429}}`, "a", "no"},
		{`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, "overloaded_error", "busy"},
		{`{"error":"plain"}`, "", "plain"},
		{`{"message":"outside"}`, "", "outside"},
		{`{"detail":"Not Found"}`, "", `"Not Found"`},
		{`{"detail":[{"loc":["body"]}]}`, "", `[{"loc":["body"]}]`},
		{"<html>\n<b>502</b>", "", "<html> <b>502</b>"},
		{`[{"error":{"message":"in a list"}}]`, "", `[{"error":{"message":"in a list"}}]`},
		{"\x1b[31mred", "", "red"},
		{"", "", ""},
	} {
		if r := ReadRefusal(500, []byte(tc.body)); r.Code != tc.code || r.Said != tc.said {
			t.Errorf("%s: %q, %q", tc.body, r.Code, r.Said)
		}
	}
}

func FuzzReadRefusal(f *testing.F) {
	f.Add(429, []byte(`{"error":{"message":"no","code":3}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		r := ReadRefusal(status, body)
		if len([]rune(r.Said)) > 500 || strings.ContainsAny(r.Error(), "\x1b\n") {
			t.Errorf("%q", r.Error())
		}
		r.class()
	})
}
