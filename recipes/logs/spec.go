package logs

import (
	"fmt"
	"math"
	"strings"
)

// specCounts are the counts of speculative decoding over some windows of some
// engines.
type specCounts struct {
	drafts, draftTokens, accepted float64
	acceptedAt                    []float64 // by position in the draft
	draftsUnknown                 bool      // a window did not tell its drafts
}

// specMark begins what vLLM prints of a window since its last such line.
const specMark = "SpecDecoding metrics:"

// maxDraft is the longest draft for which positions are kept.
const maxDraft = 64

// parseSpecLine reads the counts of one window of one engine. Every version
// prints accepted and drafted tokens; the newer ones also the mean acceptance
// length (1 + accepted/drafts, two digits) and the rate per position
// (accepted at i / drafts, three digits), out of which the drafts are recovered.
func parseSpecLine(line string) (specCounts, bool) {
	at := strings.Index(line, specMark)
	if at < 0 {
		return specCounts{}, false
	}
	text := line[at:]
	accepted, okA := numberAfter(text, " Accepted: ")
	drafted, okD := numberAfter(text, " Drafted: ")
	if !okA || !okD || !(accepted >= 0) || !(drafted > 0) || accepted > drafted || math.IsInf(drafted, 0) {
		return specCounts{}, false
	}
	c := specCounts{draftTokens: drafted, accepted: accepted}
	rates := ratesAfter(text, "Per-position acceptance rate: ")
	meanLength, okMean := numberAfter(text, "Mean acceptance length: ")
	c.drafts = windowDrafts(c, rates, meanLength, okMean)
	c.draftsUnknown = c.drafts == 0
	for _, rate := range rates {
		c.acceptedAt = append(c.acceptedAt, math.Round(rate*c.drafts))
	}
	return c, true
}

// windowDrafts recovers how many drafts a window had; 0 where nothing tells.
// Drafts of full length are drafted/positions, which is taken where it agrees
// with the printed rates within their rounding; drafts of varying length are
// accepted/(sum of the rates), as every accepted token counts at one position.
func windowDrafts(c specCounts, rates []float64, meanLength float64, okMean bool) float64 {
	full := 0.0
	if n := float64(len(rates)); n > 0 && math.Mod(c.draftTokens, n) == 0 {
		full = c.draftTokens / n
	}
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	switch {
	case c.accepted == 0:
		return full
	case sum > 0:
		rounding := 0.0005 * float64(len(rates)) // of the sum
		if full > 0 && math.Abs(c.accepted/full-sum) <= rounding {
			return full
		}
		return math.Round(c.accepted / sum)
	case okMean && meanLength > 1:
		return math.Round(c.accepted / (meanLength - 1))
	}
	return 0
}

// numberAfter is the number that follows label.
func numberAfter(text, label string) (float64, bool) {
	_, rest, found := strings.Cut(text, label)
	if !found {
		return 0, false
	}
	if end := strings.IndexAny(rest, " ,%"); end >= 0 {
		rest = rest[:end]
	}
	v, kind := parseNumber(rest)
	return v, kind == isNumber && !math.IsNaN(v)
}

// ratesAfter is the list "0.8, 0.5, 0.3" that follows label, with or without
// brackets.
func ratesAfter(text, label string) []float64 {
	_, rest, found := strings.Cut(text, label)
	if !found {
		return nil
	}
	var rates []float64
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "["), ",") {
		v, kind := parseNumber(strings.TrimSuffix(strings.TrimSpace(part), "]"))
		if kind != isNumber || !(v >= 0 && v <= 1) || len(rates) == maxDraft {
			break
		}
		rates = append(rates, v)
	}
	return rates
}

// add sums numerators and denominators.
func (c *specCounts) add(d specCounts) {
	c.drafts += d.drafts
	c.draftTokens += d.draftTokens
	c.accepted += d.accepted
	c.draftsUnknown = c.draftsUnknown || d.draftsUnknown
	for len(c.acceptedAt) < len(d.acceptedAt) {
		c.acceptedAt = append(c.acceptedAt, 0)
	}
	for i, n := range d.acceptedAt {
		c.acceptedAt[i] += n
	}
}

// fields are the counts and their quotients under the names that the recipe's
// patch of verl logs them with.
func (c specCounts) fields() []field {
	if c.draftTokens == 0 {
		return nil
	}
	var all []field
	put := func(key string, v float64) { all = append(all, field{key: "spec_decode/" + key, value: v}) }
	if !c.draftsUnknown {
		put("num_drafts", c.drafts)
	}
	put("num_draft_tokens", c.draftTokens)
	put("num_accepted_tokens", c.accepted)
	put("draft_acceptance_rate", c.accepted/c.draftTokens)
	if c.draftsUnknown {
		return all
	}
	put("mean_acceptance_length", 1+c.accepted/c.drafts)
	for i, n := range c.acceptedAt {
		put(fmt.Sprintf("accepted_tokens_pos_%d", i), n)
	}
	for i, n := range c.acceptedAt {
		put(fmt.Sprintf("acceptance_rate_pos_%d", i), n/c.drafts)
	}
	return all
}
