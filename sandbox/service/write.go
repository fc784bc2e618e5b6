package service

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// answerTime is how long a client has to take an answer.
const answerTime = 2 * time.Minute

// encode writes JSON as clients of FastAPI expect it: no escapes for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // our own types always encode; observed answers 500 otherwise
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	writeBytes(w, code, "application/json", encode(v))
}

// writeDetail writes an error as FastAPI does.
func writeDetail(w http.ResponseWriter, code int, detail string) {
	writeJSON(w, code, map[string]string{"detail": detail})
}

func writeProblems(w http.ResponseWriter, p problems) {
	writeJSON(w, http.StatusUnprocessableEntity, map[string]problems{"detail": p})
}

func writeBytes(w http.ResponseWriter, code int, kind string, body []byte) {
	// A client that reads slowly must not keep its answer in memory for ever.
	// Where that cannot be set, as in tests, nothing is lost.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // who has gone will not hear of it
}
