package service

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/coderl/cr/sandbox"
)

// codeBlock is a piece of a completion that may be the program.
type codeBlock struct {
	Priority int    `json:"priority"`
	Language string `json:"language"` // the fence's tag
	Code     string `json:"code"`
}

// The priorities of blocks, as SandboxFusion has them.
const (
	fencedPriority     = 30
	unclosedPriority   = 20
	unfencedPriority   = 10
	maxExtractedBlocks = 10_000
)

var (
	fencedBlock   = regexp.MustCompile("(?s)```([^\n]*)\n(.*?)\n\\s*```")
	unclosedBlock = regexp.MustCompile("(?s)```([^\n]*)\n(.*)")
	// definitions finds functions and classes with the imports and comments right
	// above them, in text without blank lines.
	definitions = regexp.MustCompile(`(?m)(?:^(?:import|from|#|@)[^\n]+\n)*^(?:def|class|async def) [^\n]+\n(?:[ \t]+[^\n]+\n)+`)
)

// syntaxCheck ends well if its input is a Python program.
const syntaxCheck = "import sys\ncompile(sys.stdin.read(), 'completion', 'exec')\n"

//go:embed extract.py
var extractProgram string

// extract finds the program in a completion: the first complete fence of the
// language, else the first of any; without fences an unclosed one; without that
// the text itself, if it is code. "" means that there is no program.
func (s *Service) extract(ctx context.Context, client string, r submitRequest) (string, error) {
	blocks := fences(r.completion)
	if r.config.extract != "" {
		custom, err := s.customBlocks(ctx, client, r)
		if err != nil {
			return "", err
		}
		blocks = append(blocks, custom...)
	}
	if len(blocks) > 0 {
		return pick(blocks, r.config.language), nil
	}
	return s.unfenced(ctx, client, r.completion, r.config.language)
}

func fences(completion string) []codeBlock {
	var blocks []codeBlock
	for _, m := range fencedBlock.FindAllStringSubmatch(completion, maxExtractedBlocks) {
		blocks = append(blocks, codeBlock{fencedPriority, m[1], m[2]})
	}
	if len(blocks) > 0 {
		return blocks
	}
	if m := unclosedBlock.FindStringSubmatch(completion); m != nil {
		blocks = append(blocks, codeBlock{unclosedPriority, m[1], m[2]})
	}
	return blocks
}

// pick returns the first block of the language among those of the highest
// priority, else the first of these.
func pick(blocks []codeBlock, language string) string {
	top := blocks[0].Priority
	for _, b := range blocks {
		top = max(top, b.Priority)
	}
	first := -1
	for i, b := range blocks {
		switch {
		case b.Priority != top:
		case tagNames(b.Language, language):
			return b.Code
		case first < 0:
			first = i
		}
	}
	return blocks[first].Code
}

// unfenced takes the whole text for the program if it is one, else the first
// function or class in it.
func (s *Service) unfenced(ctx context.Context, client, text, language string) (string, error) {
	if language == "bash" {
		return text, nil
	}
	if !tagNames("python", language) {
		if strings.ContainsAny(text, "{}();=") {
			return text, nil
		}
		return "", nil
	}
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	run, err := s.run(ctx, client, sandbox.Job{Language: "python", Code: syntaxCheck, Stdin: []byte(text)})
	if err != nil {
		return "", fmt.Errorf("look for a program: %w", err)
	}
	if run.Status == sandbox.OK {
		return text, nil
	}
	return definitions.FindString(withoutBlankLines(text)), nil
}

func withoutBlankLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	return b.String()
}

// extractError is a custom_extract_logic that failed: the client's fault.
type extractError struct{ said string }

func (e *extractError) Error() string { return "custom_extract_logic failed: " + e.said }

// customBlocks runs the request's own extraction in the sandbox.
func (s *Service) customBlocks(ctx context.Context, client string, r submitRequest) ([]codeBlock, error) {
	run, err := s.run(ctx, client, sandbox.Job{
		Language: "python", Code: extractProgram, Stdin: []byte(r.completion),
		Files: map[string][]byte{"logic": []byte(r.config.extract)},
	})
	if err != nil {
		return nil, fmt.Errorf("extract code: %w", err)
	}
	if run.Status != sandbox.OK {
		return nil, &extractError{lastLine(run)}
	}
	var blocks []codeBlock
	if err := json.Unmarshal(run.Stdout, &blocks); err != nil {
		return nil, &extractError{"its blocks are unreadable: " + err.Error()}
	}
	return blocks, nil
}

// lastLine is how a failed program ended, in one line.
func lastLine(run sandbox.Result) string {
	text := strings.TrimSpace(string(run.Stderr))
	if text == "" {
		return string(run.Status)
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
