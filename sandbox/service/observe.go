package service

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// observed counts requests and survives faults of ours.
func (s *Service) observed(mux *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		_, pattern := mux.Handler(r)
		_, path, ok := strings.Cut(pattern, " ")
		if !ok {
			path = "other" // whatever a client makes up must not become a label
		}
		rec := &recorder{ResponseWriter: w}
		defer func() {
			if fault := recover(); fault != nil {
				s.metrics.faults.Inc()
				s.cfg.Log.Error("a request failed", slog.String("path", path), slog.Any("fault", fault))
				writeDetail(rec, http.StatusInternalServerError, "internal error")
			}
			s.metrics.requests.WithLabelValues(path, strconv.Itoa(rec.code())).Inc()
			s.metrics.seconds.WithLabelValues(path).Observe(time.Since(start).Seconds())
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// jsonErrors gives the mux's own 404 and 405 answers the form of the others.
func jsonErrors(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &recorder{ResponseWriter: discard{header: w.Header()}}
		mux.ServeHTTP(probe, r)
		code := probe.code()
		w.Header().Del("X-Content-Type-Options")
		writeDetail(w, code, http.StatusText(code))
	})
}

// discard takes an answer's header and drops the rest.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
