package track

import (
	"bytes"
	"strings"
)

// ideaLine is one line of idea.md.
type ideaLine struct {
	raw     []byte // with its line end
	kept    []byte // what remains when the line's text is taken out: its comments and line end
	text    string // outside comments, without blanks around it
	comment bool   // a part of a comment stands in it
}

// Ideas returns the ideas in idea.md: all text outside HTML comments. Comments,
// blanks and headings alone are no idea, and give "".
func Ideas(data []byte) string {
	var texts []string
	empty := true
	for _, l := range ideaLines(data) {
		if l.text == "" && (l.comment || len(texts) == 0) {
			continue // leave no gap where a comment was
		}
		texts = append(texts, l.text)
		empty = empty && (l.text == "" || strings.HasPrefix(l.text, "#"))
	}
	if empty {
		return ""
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// RemoveIdeas returns data without the consumed text, which an earlier Ideas
// returned. Comments stay, and so does what the user has added or changed since:
// lines are compared, not places.
func RemoveIdeas(data []byte, consumed string) []byte {
	var gone []string
	for text := range strings.SplitSeq(consumed, "\n") {
		if text = strings.TrimSpace(text); text != "" {
			gone = append(gone, text)
		}
	}
	if len(gone) == 0 {
		return bytes.Clone(data)
	}
	lines := ideaLines(data)
	remove := matchLines(lines, gone)
	var out []byte
	for i, l := range lines {
		if remove[i] {
			out = append(out, l.kept...)
		} else {
			out = append(out, l.raw...)
		}
	}
	if Ideas(out) == "" {
		out = trimEnd(out)
	}
	return out
}

// trimEnd leaves one line end after what remains when all ideas are used.
func trimEnd(data []byte) []byte {
	data = bytes.TrimRight(data, " \t\r\n")
	if len(data) > 0 {
		data = append(data, '\n')
	}
	return data
}

// ideaLines splits data and tells text from comments.
func ideaLines(data []byte) (lines []ideaLine) {
	spans := commentSpans(data)
	for start := 0; start < len(data); {
		end := len(data)
		if n := bytes.IndexByte(data[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		for len(spans) > 0 && spans[0][1] <= start {
			spans = spans[1:]
		}
		lines = append(lines, splitLine(data, start, end, spans))
		start = end
	}
	return lines
}

func splitLine(data []byte, start, end int, spans [][2]int) ideaLine {
	l := ideaLine{raw: data[start:end]}
	var text []byte
	at := start
	for _, s := range spans {
		if s[0] >= end {
			break
		}
		from, to := max(s[0], start), min(s[1], end)
		text = append(text, data[at:from]...)
		l.kept = append(l.kept, data[from:to]...)
		l.comment = true
		at = to
	}
	text = append(text, data[at:end]...)
	clean := strings.ToValidUTF8(string(text), "\uFFFD")
	l.text = strings.TrimSpace(strings.TrimPrefix(clean, "\uFEFF"))
	if l.comment && at < end && data[end-1] == '\n' {
		l.kept = append(l.kept, '\n')
	}
	return l
}

// matchLines says which lines hold the texts in gone. The whole as one block
// comes first; else as many lines as match in order, so that a line which stands
// there twice is not taken from the middle of something new.
func matchLines(lines []ideaLine, gone []string) map[int]bool {
	var at []int // lines with text
	for i, l := range lines {
		if l.text != "" {
			at = append(at, i)
		}
	}
	remove := make(map[int]bool)
	for from := 0; from+len(gone) <= len(at); from++ {
		if blockAt(lines, at[from:], gone) {
			for _, i := range at[from : from+len(gone)] {
				remove[i] = true
			}
			return remove
		}
	}
	for _, i := range commonLines(lines, at, gone) {
		remove[i] = true
	}
	return remove
}

func blockAt(lines []ideaLine, at []int, gone []string) bool {
	for i, text := range gone {
		if lines[at[i]].text != text {
			return false
		}
	}
	return true
}

// maxIdeaPairs bounds the table of commonLines; a file with thousands of
// changed lines is compared line by line instead.
const maxIdeaPairs = 4 << 20

// commonLines is the longest common subsequence of the lines and gone, as
// indices into lines.
func commonLines(lines []ideaLine, at []int, gone []string) (common []int) {
	if len(at)*len(gone) > maxIdeaPairs {
		return greedyLines(lines, at, gone)
	}
	width := len(gone) + 1
	best := make([]int32, (len(at)+1)*width)
	for i := len(at) - 1; i >= 0; i-- {
		for j := len(gone) - 1; j >= 0; j-- {
			if lines[at[i]].text == gone[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(at) && j < len(gone); {
		switch {
		case lines[at[i]].text == gone[j]:
			common = append(common, at[i])
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return common
}

func greedyLines(lines []ideaLine, at []int, gone []string) (found []int) {
	left := make(map[string]int)
	for _, text := range gone {
		left[text]++
	}
	for _, i := range at {
		if left[lines[i].text] > 0 {
			left[lines[i].text]--
			found = append(found, i)
		}
	}
	return found
}
