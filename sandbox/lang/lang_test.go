package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTableIsConsistent(t *testing.T) {
	names, endings := map[string]string{}, map[string]string{}
	for _, l := range Table() {
		for _, name := range append([]string{l.Name}, l.Aliases...) {
			key := strings.ToLower(name)
			if other := names[key]; other != "" {
				t.Errorf("%s names %s and %s", name, other, l.Name)
			}
			names[key] = l.Name
			if found := Find(strings.ToUpper(name)); found == nil || found.Name != l.Name {
				t.Errorf("%s finds %v", name, found)
			}
		}
		for _, ending := range l.Extensions {
			if other := endings[ending]; other != "" || !strings.HasPrefix(ending, ".") {
				t.Errorf("%s is an ending of %q and %s", ending, other, l.Name)
			}
			endings[ending] = l.Name
		}
		for i := range l.Chains {
			checkChain(t, &l, &l.Chains[i])
		}
	}
}

func checkChain(t *testing.T, l *Language, c *Chain) {
	t.Helper()
	if len(c.Tools) == 0 || c.Install == "" || len(c.Version) == 0 || len(c.Run) == 0 {
		t.Errorf("%s: a chain without tools, packages, version or command: %+v", l.Name, c)
		return
	}
	source := c.Run
	if c.Compile != nil {
		source = c.Compile
		if !strings.Contains(strings.Join(c.Compile, " "), "out") {
			t.Errorf("%s: the compiler leaves nothing in out/: %v", l.Name, c.Compile)
		}
	}
	if !strings.Contains(strings.Join(source, " "), l.Source) {
		t.Errorf("%s: %v does not read %s", l.Name, source, l.Source)
	}
	if strings.Contains(strings.Join(c.Run, " "), "{entry}") != (l.Entry != "") {
		t.Errorf("%s: an entry nobody looks for, or the other way round", l.Name)
	}
}

func TestCommands(t *testing.T) {
	c := &Toolchain{
		Chain: &Chain{
			Tools: []string{"tool"}, Env: []string{"A={memory}"},
			Run: []string{"tool", "-m{memory}", "{entry}", "{prepared}/x", "{other}"},
		},
		paths: map[string]string{"tool": "/opt/t/bin/tool"},
	}
	v := Values{Memory: 5 << 20, Entry: "{memory}", Prepared: "/p"}
	if got := strings.Join(c.RunCommand(v), " "); got != "/opt/t/bin/tool -m5 {memory} /p/x {other}" {
		t.Errorf("command %s", got)
	}
	if got := strings.Join(c.Environment(v), " "); got != "A=5 PATH=/opt/t/bin:/usr/local/bin:/usr/bin:/bin" {
		t.Errorf("environment %s", got)
	}
	if c.CompileCommand(v) != nil {
		t.Error("an interpreter compiles")
	}
}

func TestEntryIsTheLastObject(t *testing.T) {
	scala := Find("scala")
	for source, want := range map[string]string{
		"object A { }\nobject Prog extends App {\n  object Inner\n}": "Prog",
		"\n    object HelloWorld {\n      object Inner\n    }\n":     "HelloWorld",
		"class A {\n  object B\n}\nobject C { }":                     "C",
		"class X":                                                    "Main",
	} {
		if got := scala.EntryOf(source); got != want {
			t.Errorf("%q: %s, want %s", source, got, want)
		}
	}
}

func TestLeadKeepsLines(t *testing.T) {
	c := &Chain{Lead: "using A; ", LeadNot: `(?m)^\s*#\s*define\b`}
	for source, want := range map[string]string{
		"using B;\nclass C { }":    "using A; using B;\nclass C { }",
		"// x\n#define D\nclass C": "// x\n#define D\nclass C",
	} {
		if got := c.Program(source); got != want {
			t.Errorf("%q becomes %q, want %q", source, got, want)
		}
	}
	if got := new(Chain).Program("x"); got != "x" {
		t.Errorf("a chain without a lead changes a program into %q", got)
	}
}

func TestHomesAreNotLaidOpen(t *testing.T) {
	for program, want := range map[string]string{
		"/opt/go/bin/go":             "/opt/go",
		"/home/ann/bin/kotlinc":      "/home/ann/bin",
		"/home/ann/kotlin/bin/k":     "/home/ann/kotlin",
		"/home/ann/kotlin/k":         "/home/ann/kotlin",
		"/bin/x":                     "/bin",
		"/srv/node/v20/bin/node":     "/srv/node/v20",
		"/root/.cargo/toolchain/cc1": "/root/.cargo/toolchain",
	} {
		if got := installation(program); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

func TestPreparedOnce(t *testing.T) {
	dir := t.TempDir()
	count := filepath.Join(t.TempDir(), "count")
	c := &Toolchain{Chain: &Chain{
		Tools: []string{"sh"}, Version: []string{"sh", "-c", "echo 1"},
		Prepare: []string{"sh", "-c", "echo x >> " + count + "; umask 077; mkdir {prepared}/d; echo y > {prepared}/d/f"},
	}, paths: map[string]string{"sh": "/bin/sh"}}
	c.version = func() (string, error) { return c.ask(c.Chain.Version) }
	for range 2 {
		h := &Host{prepared: dir}
		made, err := h.Prepared(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(made, "d", "f"))
		if err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%v %v", info, err)
		}
	}
	if data, err := os.ReadFile(count); err != nil || string(data) != "x\n" {
		t.Errorf("prepared %q, %v", data, err)
	}
	c.Prepare = []string{"sh", "-c", "exit 1"}
	h := &Host{prepared: dir}
	if _, err := h.Prepared(t.Context(), c); err == nil {
		t.Error("a failed preparation was taken")
	}
	entries, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil || len(entries) > 0 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

func TestClosedDirectories(t *testing.T) {
	chain := func(dir string) *Toolchain {
		return &Toolchain{Chain: &Chain{Tools: []string{"c"}}, dirs: []string{dir}, version: func() (string, error) { return "1", nil }}
	}
	h := &Host{
		prepared: "/root/cache", dropped: map[string]error{},
		chains: map[string][]*Toolchain{"a": {chain("/root/x"), chain("/opt/x")}, "b": {chain("/root/y")}},
	}
	h.Drop(func(dir string) string {
		if strings.HasPrefix(dir, "/root") {
			return "/root"
		}
		return ""
	})
	if found, err := h.Find(&Language{Name: "a", Chains: []Chain{{}}}); err != nil || found.dirs[0] != "/opt/x" {
		t.Errorf("%v %v", found, err)
	}
	if _, err := h.Find(&Language{Name: "b", Chains: []Chain{{}}}); err == nil || !strings.Contains(err.Error(), "may not enter /root") {
		t.Errorf("error %v", err)
	}
	if h.prepared != "" {
		t.Error("what is prepared stays where nobody may enter")
	}
}
