package lang

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Values are what the words of a command stand for in one run.
type Values struct {
	Entry    string
	Memory   int64 // bytes
	Prepared string
}

// CompileCommand is the compiler's command line; nil for an interpreter.
func (c *Toolchain) CompileCommand(v Values) []string { return c.command(c.Compile, v) }

// RunCommand is the program's command line, without its own arguments.
func (c *Toolchain) RunCommand(v Values) []string { return c.command(c.Run, v) }

// Environment is what both need, besides the jail's own; tools outside the
// system's directories come first on the PATH.
func (c *Toolchain) Environment(v Values) []string {
	env := make([]string, 0, len(c.Env)+1)
	for _, entry := range c.Env {
		env = append(env, v.replace(entry))
	}
	var dirs []string
	for _, tool := range c.Tools {
		dir := filepath.Dir(c.paths[tool])
		if !slices.Contains([]string{"/usr/local/bin", "/usr/bin", "/bin"}, dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > 0 {
		env = append(env, "PATH="+strings.Join(append(dirs, "/usr/local/bin", "/usr/bin", "/bin"), ":"))
	}
	return env
}

func (c *Toolchain) command(words []string, v Values) []string {
	if words == nil {
		return nil
	}
	argv := make([]string, len(words))
	for i, word := range words {
		argv[i] = v.replace(word)
	}
	if path, ok := c.paths[words[0]]; ok {
		argv[0] = path
	}
	return argv
}

func (v Values) replace(word string) string {
	if !strings.Contains(word, "{") {
		return word
	}
	return strings.NewReplacer(
		"{entry}", v.Entry,
		"{memory}", strconv.FormatInt(v.Memory>>20, 10),
		"{prepared}", v.Prepared,
	).Replace(word)
}
