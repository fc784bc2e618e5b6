package chat

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// A traced template calls these where a loop's body begins, behind a loop, and
// around a generation block. Each prints a mark, so that the text says which
// message the template was at when it wrote what.
const (
	enterName      = "cr_enter"
	leaveName      = "cr_leave"
	generationName = "cr_generation"
)

// enterCalls tells the trace what a loop's variables hold now; the first of
// bound is loop itself.
func enterCalls(loop int, bound []string) string {
	var out strings.Builder
	for _, name := range bound[1:] {
		if wordByte(name[0]) {
			fmt.Fprintf(&out, "{{ %s(%d, %s) }}", enterName, loop, name)
		}
	}
	return out.String()
}

func leaveCall(loop int) string { return fmt.Sprintf("{{ %s(%d) }}", leaveName, loop) }

func generationCall(begins bool) string {
	return fmt.Sprintf("{{ %s(%t) }}", generationName, begins)
}

// trace is one rendering of a traced template. Its marks are a rune that no
// text has, a letter, numbers, and the rune again.
type trace struct {
	mark     rune
	messages map[*jinja.Dict]int // the messages' values, to their index
}

// functions are what the calls of a traced template do.
func (t *trace) functions() map[string]jinja.Value {
	return map[string]jinja.Value{
		enterName:      jinja.NewCallable(enterName, t.enter),
		leaveName:      jinja.NewCallable(leaveName, t.leave),
		generationName: jinja.NewCallable(generationName, t.generation),
	}
}

// enter marks that a loop goes on to a message; other values leave no mark.
func (t *trace) enter(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 2 || !args[1].IsDict() {
		return jinja.NewString(""), nil
	}
	index, ok := t.messages[args[1].AsDict()]
	if !ok {
		return jinja.NewString(""), nil
	}
	return t.print(fmt.Sprintf("e%d %d", args[0].AsInt(), index)), nil
}

func (t *trace) leave(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	return t.print(fmt.Sprintf("l%d", args[0].AsInt())), nil
}

func (t *trace) generation(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if args[0].AsBool() {
		return t.print("g"), nil
	}
	return t.print("h"), nil
}

func (t *trace) print(mark string) jinja.Value {
	return jinja.NewString(string(t.mark) + mark + string(t.mark))
}

// part is a stretch [from, to) of a rendered text.
type part struct{ from, to int }

func (p part) empty() bool { return p.to <= p.from }

// written is what a template wrote for a message.
type written struct {
	part
	scattered bool // there is more of it elsewhere
}

// traced is a text without its marks, and what they said.
type traced struct {
	text      string
	messages  []written // empty where the template wrote nothing while at the message
	generated []part    // the generation blocks
}

// errTrace says that a trace's marks make no sense, as when a template cuts
// pieces out of what it has written.
var errTrace = errors.New("the chat template cannot be followed: it changes text after writing it")

// traceReader goes through a marked text.
type traceReader struct {
	out   strings.Builder
	open  []struct{ loop, message int } // loops over messages being run, innermost last
	since int                           // where the open generation block began; -1: none
	done  traced
}

// read separates a text from its marks.
func (t *trace) read(marked string, messages int) (traced, error) {
	r := traceReader{since: -1, done: traced{messages: make([]written, messages)}}
	pieces := strings.Split(marked, string(t.mark))
	for i, piece := range pieces {
		if i%2 == 0 {
			r.text(piece)
		} else if !r.follow(piece) {
			return traced{}, errTrace
		}
	}
	if len(pieces)%2 == 0 || r.since >= 0 {
		return traced{}, errTrace
	}
	r.done.text = r.out.String()
	return r.done, nil
}

// text is written for the innermost message.
func (r *traceReader) text(piece string) {
	if piece == "" {
		return
	}
	from := r.out.Len()
	r.out.WriteString(piece)
	if len(r.open) == 0 {
		return
	}
	w := &r.done.messages[r.open[len(r.open)-1].message]
	switch {
	case w.empty():
		w.part = part{from, r.out.Len()}
	case w.to == from:
		w.to = r.out.Len()
	default:
		w.scattered = true
	}
}

// follow obeys a mark; false: it is none of ours.
func (r *traceReader) follow(mark string) bool {
	if mark == "" {
		return false
	}
	loopText, messageText, _ := strings.Cut(mark[1:], " ")
	loop, err := strconv.Atoi(loopText)
	switch mark[0] {
	case 'e':
		message, err2 := strconv.Atoi(messageText)
		if err != nil || err2 != nil || message < 0 || message >= len(r.done.messages) {
			return false
		}
		r.leave(loop)
		r.open = append(r.open, struct{ loop, message int }{loop, message})
	case 'l':
		r.leave(loop)
		return err == nil
	case 'g':
		r.since = r.out.Len()
	case 'h':
		if r.since < 0 {
			return false
		}
		r.done.generated = append(r.done.generated, part{r.since, r.out.Len()})
		r.since = -1
	default:
		return false
	}
	return true
}

// leave ends a loop, and those that were left inside it.
func (r *traceReader) leave(loop int) {
	for i, o := range r.open {
		if o.loop == loop {
			r.open = r.open[:i]
			return
		}
	}
}
