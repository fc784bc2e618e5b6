package retry_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coderl/cr/internal/retry"
)

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func TestAfter(t *testing.T) {
	const longest = 5 * time.Minute
	for text, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0": 0, "007": 7 * time.Second, "99999": longest, "300": longest, "301": longest,
		"18446744073709551616":              longest,
		"99999999999999999999999999999999":  longest,
		"Wed, 01 May 2024 12:00:07 GMT":     7 * time.Second,
		"Wednesday, 01-May-24 12:00:07 GMT": 7 * time.Second,
		"Wed May  1 12:00:07 2024":          7 * time.Second,
		"Wed, 01 May 2024 11:00:00 GMT":     0,
		"Wed, 01 May 9999 12:00:00 GMT":     longest,
		"":                                  0, "-1": 0, "+1": 0, "1.5": 0, "soon": 0, "1 2": 0, "0x3": 0, "1_0": 0,
	} {
		if got := retry.After(text, noon, longest); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzAfter(f *testing.F) {
	for _, text := range []string{"3", "-1", "99999999999999999999", "Wed, 01 May 2024 12:00:07 GMT", "Wed May  1 12:00:07 0000"} {
		f.Add(text, int64(time.Minute))
	}
	f.Fuzz(func(t *testing.T, text string, longest int64) {
		limit := time.Duration(max(longest, 0))
		if got := retry.After(text, noon, limit); got < 0 || got > limit {
			t.Fatalf("%q: %v of at most %v", text, got, limit)
		}
	})
}

func TestBackoff(t *testing.T) {
	for _, tt := range []struct {
		first, longest time.Duration
		failures       int
		want           time.Duration // before it is spread
	}{
		{time.Second, time.Minute, 0, time.Second},
		{time.Second, time.Minute, 1, time.Second},
		{time.Second, time.Minute, 4, 8 * time.Second},
		{time.Second, time.Minute, 7, time.Minute},
		{time.Second, time.Minute, math.MaxInt, time.Minute},
		{time.Second, math.MaxInt64, 1000, math.MaxInt64},
		{time.Hour, time.Minute, 1, time.Minute},
		{0, time.Minute, 9, 0},
		{1, time.Minute, 1, 1},
	} {
		low, high := time.Duration(math.MaxInt64), time.Duration(-1)
		for range 1000 {
			wait := retry.Backoff(tt.first, tt.longest, tt.failures)
			low, high = min(low, wait), max(high, wait)
		}
		if low < tt.want/2 || high > tt.want {
			t.Errorf("%+v: from %v to %v", tt, low, high)
		}
		if tt.want >= time.Second && high-low < tt.want/4 {
			t.Errorf("%+v: not spread: from %v to %v", tt, low, high)
		}
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := retry.Sleep(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun = time.Now()
		if err := retry.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if err := retry.Sleep(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that ended: %v", err)
		}
	})
}
