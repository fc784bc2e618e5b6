package jail

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestReportIsReadStrictly(t *testing.T) {
	token := newToken()
	if len(token) != tokenLength {
		t.Fatalf("token of %d characters, want %d", len(token), tokenLength)
	}
	rows := []struct {
		data string
		want Report
	}{
		{"", NoReport},
		{token + "v[1, 2]", ReportValue},
		{token + "vNaN", ReportValue},
		{token + `v{"a": [-Infinity, "NaN \" Infinity"]}`, ReportValue},
		{token + "c", ReportCompile},
		{"+", NoReport},
		{"+" + token + "v[1, 2]", ReportValue},
		{"+" + token + "m", ReportMemory},
		{"+" + token + "ibroken", ReportForged},
		{"++" + token + "v1", ReportForged},
		{token + "+v1", ReportForged},
		{"+" + token, ReportForged},
		{token + "m", ReportMemory},
		{token + "v", ReportForged},
		{token + "v1" + token + "v2", ReportForged},
		{token + "v1 2", ReportForged},
		{token + "c1", ReportForged},
		{token + "x", ReportForged},
		{token, ReportForged},
		{"v1", ReportForged},
		{"x" + token + "v1", ReportForged},
	}
	for _, row := range rows {
		var o Outcome
		if err := o.read([]byte(row.data), token); err != nil {
			t.Errorf("%q: %v", row.data, err)
		}
		if o.Report != row.want || (o.Value != nil) != (row.want == ReportValue) {
			t.Errorf("%q: report %d value %q, want %d", row.data, o.Report, o.Value, row.want)
		}
	}
	var o Outcome
	if err := o.read([]byte(token+"ibroken"), token); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a failed set-up gave %v", err)
	}
}

// FuzzReport feeds the one channel that a hostile program can write to.
func FuzzReport(f *testing.F) {
	for _, seed := range []string{"", "v1", "v[NaN]", "c", "m", "i", `v"\`, "vI", "v-Infinity"} {
		f.Add([]byte(seed), true)
	}
	token := newToken()
	f.Fuzz(func(t *testing.T, data []byte, genuine bool) {
		if genuine {
			data = append([]byte(token), data...)
		}
		var o Outcome
		if err := o.read(data, token); err != nil {
			return
		}
		if !genuine && o.Report != NoReport && o.Report != ReportForged && !bytes.HasPrefix(data, []byte(token)) {
			t.Errorf("%q without the token was taken for report %d", data, o.Report)
		}
		if o.Value != nil && !json.Valid(withoutNonFinite(o.Value)) {
			t.Errorf("%q was taken for a value", o.Value)
		}
	})
}

func TestHeadAndTailAreKept(t *testing.T) {
	for _, size := range []int{0, 1, stderrKeep, 2 * stderrKeep, 2*stderrKeep + 1, 5 * stderrKeep, 1 << 20} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte('a' + i%23)
		}
		var h headTail
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 777)
			if _, err := h.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got := h.bytes()
		if size <= 2*stderrKeep {
			if !bytes.Equal(got, data) {
				t.Errorf("%d bytes did not come back whole", size)
			}
			continue
		}
		if !bytes.HasPrefix(got, data[:stderrKeep]) || !bytes.HasSuffix(got, data[size-stderrKeep:]) {
			t.Errorf("%d bytes lost an end", size)
		}
		if !bytes.Contains(got[stderrKeep:stderrKeep+64], []byte("bytes cut")) {
			t.Errorf("%d bytes were cut without a note", size)
		}
	}
}

func TestCappedRefusesWhatIsTooMuch(t *testing.T) {
	c := capped{limit: 10}
	if n, err := c.Write([]byte("0123456789")); n != 10 || err != nil {
		t.Errorf("a full write gave %d, %v", n, err)
	}
	if n, err := c.Write([]byte("x")); n != 0 || err == nil {
		t.Errorf("one byte too many gave %d, %v", n, err)
	}
}

func TestBindsDoNotNest(t *testing.T) {
	p := Python{Dirs: []string{"/opt/py/lib", "/opt/py", "/usr/local", "/opt/python"}}
	got := strings.Join(p.binds()[len(systemDirs):], " ")
	if got != "/opt/py /opt/python" {
		t.Errorf("binds %q", got)
	}
	if at := p.mountPoint(); within("/opt/py", at) {
		t.Errorf("the mount point %s hides the interpreter", at)
	}
}
