package logs

import (
	"fmt"
	"strings"
)

// Origin is the checkpoint that a run began from, as verl prints its settings:
// the experiment and step in 'path': '…checkpoint/EXPERIMENT/global_step_N…'. The
// zero Origin is a run that names none.
type Origin struct {
	Configuration string
	GlobalStep    int64
}

func (o Origin) String() string {
	if o == (Origin{}) {
		return "baseline"
	}
	return fmt.Sprintf("%s/global_step_%d", o.Configuration, o.GlobalStep)
}

// parseOrigin reads a line of the printed settings.
func parseOrigin(line string) (Origin, bool) {
	_, rest, found := strings.Cut(line, "'path': '")
	if !found {
		return Origin{}, false
	}
	path, _, _ := strings.Cut(rest, "'")
	before, after, found := strings.Cut(path, "/global_step_")
	if !found {
		return Origin{}, false
	}
	digits := 0
	for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
		digits++
	}
	folders := strings.Split(before, "/")
	name := folders[len(folders)-1]
	if digits == 0 || digits > 12 || name == "" || !strings.Contains(before, "checkpoint") || !isKey("_"+name) {
		return Origin{}, false
	}
	o := Origin{Configuration: name}
	for _, c := range after[:digits] {
		o.GlobalStep = o.GlobalStep*10 + int64(c-'0')
	}
	return o, true
}
