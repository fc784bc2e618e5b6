package grpo

// Weights are the factors with which each sequence's token losses add up to the
// loss of an optimiser update, verl's agg_loss over the whole mini-batch: how
// many micro-batches it is computed in changes nothing. lengths are the loss
// tokens of each sequence; sequences without any count nowhere. horizon is the
// longest response, for seq-mean-token-sum-norm.
func Weights(aggregate string, lengths []int, horizon int) []float64 {
	tokens, sequences := 0, 0
	for _, n := range lengths {
		tokens += n
		if n > 0 {
			sequences++
		}
	}
	weights := make([]float64, len(lengths))
	for i, n := range lengths {
		if n == 0 {
			continue
		}
		switch aggregate {
		case "seq-mean-token-sum":
			weights[i] = 1 / float64(sequences)
		case "seq-mean-token-mean":
			weights[i] = 1 / (float64(sequences) * (float64(n) + 1e-8))
		case "seq-mean-token-sum-norm":
			weights[i] = 1 / (float64(sequences) * float64(horizon))
		default: // token-mean
			weights[i] = 1 / float64(tokens)
		}
	}
	return weights
}
