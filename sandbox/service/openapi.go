package service

import (
	_ "embed"
	"strings"
)

//go:embed openapi.json
var openAPITemplate string

// openAPIDocument is the API's description with the languages that requests may
// name.
func openAPIDocument(languages []string) []byte {
	return []byte(strings.ReplaceAll(openAPITemplate, `["LANGUAGES"]`, string(encode(languages))))
}
