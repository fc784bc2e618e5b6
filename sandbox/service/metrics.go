package service

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics tells, in a registry of their own.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec   // by path and code
	seconds  *prometheus.HistogramVec // by path
	waited   prometheus.Histogram
	runs     *prometheus.CounterVec // of /run_code, by status
	verdicts *prometheus.CounterVec
	faults   prometheus.Counter
	refused  prometheus.Counter
}

// latencies spans a warm run to a long evaluation.
var latencies = prometheus.ExponentialBuckets(0.001, 2, 20)

func newMetrics(s *Service) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cr_sandbox_requests_total", Help: "Requests answered, by path and status code.",
		}, []string{"path", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cr_sandbox_request_seconds", Help: "Time from a request's header to its answer.", Buckets: latencies,
		}, []string{"path"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cr_sandbox_wait_seconds", Help: "Time that a program run waited for a slot.", Buckets: latencies,
		}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cr_sandbox_runs_total", Help: "Programs run by /run_code, by how they ended.",
		}, []string{"status"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cr_sandbox_verdicts_total", Help: "Cases judged, by verdict.",
		}, []string{"verdict"}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cr_sandbox_faults_total", Help: "Failures of the sandbox itself; watch this one.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cr_sandbox_refused_total", Help: "Requests answered 429, since the queue was full.",
		}),
	}
	r := prometheus.NewRegistry()
	r.MustRegister(m.requests, m.seconds, m.waited, m.runs, m.verdicts, m.faults, m.refused,
		gauge("cr_sandbox_pending_requests", "Requests in the house.", func() float64 {
			pending, _ := s.admission.state()
			return float64(pending)
		}),
		gauge("cr_sandbox_waiting_runs", "Program runs that wait for a slot.", func() float64 { return float64(s.gate.load()) }),
		gauge("cr_sandbox_slots", "Programs that may run at a time.", func() float64 { return float64(s.cfg.Workers) }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.handler = promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	return m
}

func gauge(name, help string, read func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
}
