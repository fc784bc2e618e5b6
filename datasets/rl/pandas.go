package rl

import (
	"unicode/utf8"

	"github.com/coderl/cr/datasets/pyvalue"
)

// appendPandas appends s in quotes as pandas' to_json writes it: ASCII only, and
// the slash escaped too. s is UTF-8.
func appendPandas(b, s []byte) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c <= 0x7f && c != '"' && c != '\\' && c != '/' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(s[i:])
		}
		b = appendPandasEscape(b, r)
		i += n
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendPandasEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\', '/':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return pyvalue.AppendEscape(b, r)
}

// appendPandasText is appendPandas, with null for nil.
func appendPandasText(b, s []byte) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return appendPandas(b, s)
}

// appendLine appends a record as a line of validation.jsonl. extra is the row's
// extra_info as JSON, "" for none.
func appendLine(b []byte, c cells, extra string) []byte {
	b = append(b, `{"prompt":[{"role":"user","content":`...)
	b = appendPandasText(b, c.prompt)
	b = append(b, `}],"solutions":[`...)
	b = appendPandas(b, c.solution)
	b = append(b, `],"reward_model":{"ground_truth":`...)
	b = appendPandas(b, c.groundTruth)
	b = append(b, `,"style":"rule"},"data_source":`...)
	b = appendPandasText(b, c.source)
	if extra != "" {
		b = append(b, `,"extra_info":`+extra...)
	}
	return append(b, "}\n"...)
}
