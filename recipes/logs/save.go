package logs

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
)

// SavedFigure is a figure's files, or why there are none.
type SavedFigure struct {
	Name    string `json:"name"`
	SVG     string `json:"svg,omitempty"`
	PNG     string `json:"png,omitempty"`
	Skipped string `json:"skipped,omitempty"`
}

// SaveFigures writes each figure into dir as NAME.svg and NAME.png, whole or not
// at all.
func SaveFigures(dir string, figures []Figure) ([]SavedFigure, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	saved := make([]SavedFigure, 0, len(figures))
	for _, f := range figures {
		s := SavedFigure{Name: f.Name, Skipped: f.Skipped}
		if f.Chart != nil {
			s.SVG, s.PNG = filepath.Join(dir, f.Name+".svg"), filepath.Join(dir, f.Name+".png")
			if err := atomicfile.Write(s.SVG, f.Chart.WriteSVG); err != nil {
				return saved, fmt.Errorf("logs: %w", err)
			}
			if err := atomicfile.Write(s.PNG, f.Chart.WritePNG); err != nil {
				return saved, fmt.Errorf("logs: %w", err)
			}
		}
		saved = append(saved, s)
	}
	return saved, nil
}
