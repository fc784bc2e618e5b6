package verl

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/coderl/cr/internal/atomicfile"
)

//go:embed python/cr_verl/*.py
var module embed.FS

// File is one file of a bundle.
type File struct {
	Name string // slash-separated, below the bundle's folder
	Data []byte
}

// Files are all that a run needs besides model, data and verl itself: run.sh
// first; for reinforcement also the tool configuration, what Ray is told, and the
// Python module. The user's patches are read here.
func (p Plan) Files() ([]File, error) {
	files := []File{{"run.sh", p.Script()}}
	if len(p.Patches) > 0 {
		files = append(files, File{"patch.sh", []byte(patchScript)})
		for i, name := range p.Patches {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("patch: %w", err)
			}
			files = append(files, File{fmt.Sprintf("patches/%02d-%s", i+1, filepath.Base(name)), data})
		}
	}
	if p.Config != ppo {
		return files, nil
	}
	files = append(files, File{"cluster.sh", p.clusterScript()}, File{"runtime_env.yaml", p.RuntimeEnv()})
	if p.Tools != nil {
		files = append(files, File{toolConfig, p.Tools})
	}
	err := fs.WalkDir(module, "python", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := module.ReadFile(path)
		files = append(files, File{strings.TrimPrefix(path, "python/"), data})
		return err
	})
	return files, err
}

// Print writes the files that a recipe decides, one after another; the Python
// module, which is always the same, by its names.
func (p Plan) Print(w io.Writer) error {
	files, err := p.Files()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	var fixed []string
	for i, f := range files {
		if strings.HasPrefix(f.Name, "cr_verl/") || strings.HasPrefix(f.Name, "patches/") {
			fixed = append(fixed, f.Name)
			continue
		}
		if i > 0 {
			fmt.Fprintf(&text, "\n# ---- %s\n", f.Name)
		}
		text.Write(f.Data)
	}
	if len(fixed) > 0 {
		fmt.Fprintf(&text, "\n# ---- and %s\n", strings.Join(fixed, ", "))
	}
	_, err = w.Write(text.Bytes())
	return err
}

// Write makes the bundle's folder, or brings one up to date.
func (p Plan) Write(dir string) error {
	files, err := p.Files()
	if err != nil {
		return err
	}
	// patch.sh applies all that is in patches/: those of an earlier plan go.
	if err := os.RemoveAll(filepath.Join(dir, "patches")); err != nil {
		return fmt.Errorf("bundle for verl: %w", err)
	}
	for _, f := range files {
		target := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(target, f.Data); err != nil {
			return fmt.Errorf("bundle for verl: %w", err)
		}
	}
	return nil
}
