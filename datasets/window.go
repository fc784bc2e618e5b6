package datasets

import (
	"fmt"
	"time"
)

// The rules for a contest on the window's last day.
const (
	DayCompat = "day" // calendar days, both ends included
	LCBCompat = "lcb" // LiveCodeBench's: the last day ends at its midnight
)

// window is a range of contest dates; a zero end is open.
type window struct {
	start, end time.Time
	compat     string
}

func parseWindow(start, end, compat string) (window, error) {
	w := window{compat: compat}
	switch compat {
	case "":
		w.compat = DayCompat
	case DayCompat, LCBCompat:
	default:
		return w, fmt.Errorf("date rule %q is unknown: use day or lcb", compat)
	}
	var err error
	if w.start, err = parseDay(start); err != nil {
		return w, fmt.Errorf("start date: %w", err)
	}
	if w.end, err = parseDay(end); err != nil {
		return w, fmt.Errorf("end date: %w", err)
	}
	if !w.start.IsZero() && !w.end.IsZero() && w.end.Before(w.start) {
		return w, fmt.Errorf("the window %s ends before it starts", w)
	}
	return w, nil
}

func parseDay(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, fmt.Errorf("%q is no day like 2024-08-01", s)
	}
	return t, nil
}

func (w window) open() bool { return w.start.IsZero() && w.end.IsZero() }

// String is "2024-08-01..2025-02-01", with nothing at an open end.
func (w window) String() string {
	if w.open() {
		return ""
	}
	return dayText(w.start) + ".." + dayText(w.end)
}

func dayText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// holds reports whether a contest is inside, by the window's own rule and by the
// other one.
func (w window) holds(contest time.Time) (kept, otherwise bool) {
	day := w.within(contest.Truncate(24 * time.Hour))
	exact := w.within(contest)
	if w.compat == LCBCompat {
		return exact, day
	}
	return day, exact
}

func (w window) within(t time.Time) bool {
	return (w.start.IsZero() || !t.Before(w.start)) && (w.end.IsZero() || !t.After(w.end))
}

// parseContestDate reads ISO 8601 with or without a time, fraction or zone; the
// wall clock counts, as in LiveCodeBench, so a zone is dropped.
func parseContestDate(s string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05", time.DateTime, time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date like 2024-08-01T00:00:00", s)
}
