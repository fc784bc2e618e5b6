package service

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// BenchmarkRunCode is /run_code over HTTP with a hello program, by numbers of
// clients that each wait for their answer.
func BenchmarkRunCode(b *testing.B) {
	exec, err := sandbox.NewLocal(sandbox.LocalOptions{})
	if err != nil {
		b.Skip(err)
	}
	defer exec.Close()
	server := httptest.NewServer(New(exec, Config{}).Handler())
	defer server.Close()
	for _, clients := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) { manyClients(b, server.URL, clients) })
	}
}

func manyClients(b *testing.B, url string, clients int) {
	body := []byte(`{"language": "python", "code": "print(\"hello\")"}`)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	next := make(chan struct{})
	times := make([][]time.Duration, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for range next {
				start := time.Now()
				answer, err := client.Post(url+"/run_code", "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					continue
				}
				said, err := io.ReadAll(answer.Body)
				_ = answer.Body.Close() // read to its end
				if err != nil || !bytes.Contains(said, []byte(`"hello\n"`)) {
					b.Errorf("%v %.200s", err, said)
				}
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		next <- struct{}{}
	}
	close(next)
	wg.Wait()
	b.StopTimer()
	all := slices.Concat(times...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}
