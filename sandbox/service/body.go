package service

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// bodyTime is how long a client has to send a body.
const bodyTime = 2 * time.Minute

// serveBody answers a request whose body has been read and is JSON.
type serveBody func(ctx context.Context, w http.ResponseWriter, guest *visit, body raw)

// admit lets a request into the house, and reads its body.
func (s *Service) admit(next serveBody) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		size := r.ContentLength
		switch {
		case size > s.cfg.MaxBody:
			writeDetail(w, http.StatusRequestEntityTooLarge, tooLarge(s.cfg.MaxBody))
			return
		case size < 0:
			size = s.cfg.MaxBody // it does not say
		}
		guest, refused := s.admission.enter(clientOf(r), size)
		switch refused {
		case queueFull:
			s.metrics.refused.Inc()
			w.Header().Set("Retry-After", strconv.Itoa(s.retryAfter()))
			writeDetail(w, http.StatusTooManyRequests, "too many requests are waiting; try again later")
			return
		case drainingNow:
			w.Header().Set("Retry-After", strconv.Itoa(int(shutdownGrace.Seconds())))
			writeDetail(w, http.StatusServiceUnavailable, "the service is shutting down")
			return
		}
		defer guest.leave()
		body, ok := s.readBody(w, r)
		if ok {
			next(r.Context(), w, guest, body)
		}
	}
}

func tooLarge(limit int64) string {
	return "a request body may have " + strconv.FormatInt(limit, 10) + " bytes"
}

// readBody reads and parses a body, or answers why it cannot.
func (s *Service) readBody(w http.ResponseWriter, r *http.Request) (raw, bool) {
	control := http.NewResponseController(w)
	// A client that sends slowly must not hold its place. A deadline that stayed
	// would end the request while it is being judged.
	deadlineErr := errors.Join(
		control.SetReadDeadline(time.Now().Add(bodyTime)),
		control.SetWriteDeadline(time.Time{}), // of the answer before
	)
	var text strings.Builder
	_, err := io.Copy(&text, http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	if deadlineErr == nil {
		deadlineErr = control.SetReadDeadline(time.Time{})
	}
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		writeDetail(w, http.StatusRequestEntityTooLarge, tooLarge(s.cfg.MaxBody))
		return "", false
	case err != nil || !utf8.ValidString(text.String()):
		writeDetail(w, http.StatusBadRequest, "There was an error parsing the body")
		return "", false
	case deadlineErr != nil && !errors.Is(deadlineErr, http.ErrNotSupported):
		return "", false // the connection is gone
	}
	body, fault := parseJSON(text.String())
	if fault != nil {
		writeProblems(w, badJSON(text.String(), fault))
		return "", false
	}
	return body, true
}
