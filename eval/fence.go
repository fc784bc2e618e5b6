package eval

import (
	"regexp"
	"strings"
)

// block is one fenced block of Markdown.
type block struct {
	label  string // first word of the info string, lower case
	code   string
	closed bool
}

// pythonLabel are the ways models write "Python" on a fence.
var pythonLabel = regexp.MustCompile(`^(py|pypy|python)[0-9.]*$`)

// isPython also holds for a block without a label.
func (b block) isPython() bool { return b.label == "" || pythonLabel.MatchString(b.label) }

// fences splits a text into its fenced blocks and the rest. As in CommonMark, a
// fence is three or more backticks or tildes, and only a line of at least as
// many of the same, and nothing else, closes it. Unlike there, any indentation
// is accepted (blocks in lists), and it is taken off the block's lines.
func fences(text string) (blocks []block, rest string) {
	var open *fence
	var inside, outside []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		f, ok := parseFence(line)
		switch {
		case open == nil && ok:
			open, inside = &f, nil
		case open == nil:
			outside = append(outside, line)
		case ok && open.closedBy(f):
			blocks = append(blocks, open.block(inside, true))
			open = nil
		default:
			inside = append(inside, line)
		}
	}
	if open != nil {
		blocks = append(blocks, open.block(inside, false))
	}
	return blocks, strings.Join(outside, "\n")
}

// fence is a line that may open or close a block.
type fence struct {
	indent string
	mark   byte
	width  int
	info   string
}

func parseFence(line string) (fence, bool) {
	body := strings.TrimLeft(line, " \t")
	f := fence{indent: line[:len(line)-len(body)]}
	if body == "" || (body[0] != '`' && body[0] != '~') {
		return f, false
	}
	f.mark = body[0]
	f.width = len(body) - len(strings.TrimLeft(body, string(f.mark)))
	f.info = strings.TrimSpace(body[f.width:])
	// A backtick in the info string makes the line inline code.
	return f, f.width >= 3 && (f.mark == '~' || !strings.Contains(f.info, "`"))
}

func (f fence) closedBy(other fence) bool {
	return other.mark == f.mark && other.width >= f.width && other.info == ""
}

func (f fence) block(lines []string, closed bool) block {
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, f.indent)
	}
	label, _, _ := strings.Cut(strings.ToLower(strings.Trim(f.info, "{}. ")), " ")
	return block{label: label, code: strings.Join(lines, "\n"), closed: closed}
}
