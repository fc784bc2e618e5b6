package service

import (
	"net"
	"net/http"
	"net/url"
)

// elsewhere are the endpoints of ScaleBox whose work is another command's.
var elsewhere = [...]string{
	"GET /list_datasets", "POST /list_ids", "POST /get_prompts", "POST /get_prompt_by_id",
	"POST /submit", "POST /get_metrics", "POST /get_metrics_function",
}

// Handler returns the service's routes.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/ping", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, "pong") })
	mux.HandleFunc("GET /healthz", s.serveHealth)
	mux.Handle("GET /metrics", s.guard(s.metrics.handler.ServeHTTP))
	mux.Handle("GET /{$}", s.guard(s.serveRoot))
	mux.Handle("GET /openapi.json", s.guard(func(w http.ResponseWriter, _ *http.Request) {
		writeBytes(w, http.StatusOK, "application/json", s.openAPI)
	}))
	mux.Handle("POST /run_code", s.guard(s.admit(s.serveRun)))
	mux.Handle("POST /common_evaluate", s.guard(s.admit(s.serveEvaluate)))
	mux.Handle("POST /common_evaluate_batch", s.guard(s.admit(s.serveEvaluate)))
	mux.Handle("POST /run_jupyter", s.guard(pointTo("notebooks are not run here; run cells as one program with /run_code")))
	for _, pattern := range elsewhere {
		mux.Handle(pattern, s.guard(pointTo("datasets are not served here: cr eval loads them, prompts models and judges their answers")))
	}
	return s.observed(mux, s.sameOrigin(jsonErrors(mux)))
}

// sameOrigin refuses web pages of other sites, which must not use a service on a
// developer's machine. Programs send no such header and pass.
func (s *Service) sameOrigin(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	deny := func(w http.ResponseWriter, _ *http.Request) {
		writeDetail(w, http.StatusForbidden, "requests from web pages of other sites are refused")
	}
	p.SetDenyHandler(http.HandlerFunc(deny))
	return p.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.check.open && rebound(r.Header.Get("Origin")) {
			deny(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// rebound says whether a page's origin is a name. The name's owner can point it at
// this machine once the page is loaded, and the browser then takes the service for
// the page's own site; only a token tells them apart.
func rebound(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Hostname() != "localhost" && net.ParseIP(u.Hostname()) == nil
}

// guard asks for the token.
func (s *Service) guard(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.check.allows(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeDetail(w, http.StatusUnauthorized, "a bearer token is needed")
			return
		}
		next(w, r)
	})
}

// pointTo answers that a thing is not done here, and where it is.
func pointTo(where string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeDetail(w, http.StatusNotImplemented, where) }
}

func (s *Service) serveRoot(w http.ResponseWriter, _ *http.Request) {
	writeBytes(w, http.StatusOK, "text/html; charset=utf-8", []byte(rootPage))
}

const rootPage = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>cr sandbox</title></head>
<body>
<h1>cr sandbox</h1>
<p>This service runs and judges programs. POST to /run_code, /common_evaluate or
/common_evaluate_batch; see <a href="/openapi.json">/openapi.json</a>,
<a href="/healthz">/healthz</a> and <a href="/metrics">/metrics</a>.</p>
</body>
</html>
`
