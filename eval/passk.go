package eval

// PassAtK is the unbiased estimate of the chance that at least one of k samples
// solves a problem, from n samples of which c do:
//
//	1 − C(n−c, k) / C(n, k) = 1 − Π_{i=n−c+1..n} (1 − k/i)
//
// (Chen et al., 2021, "Evaluating Large Language Models Trained on Code", eq. 1
// and its stable product form). It needs 1 ≤ k ≤ n.
func PassAtK(n, c, k int) float64 {
	if n-c < k {
		return 1
	}
	miss := 1.0
	for i := n - c + 1; i <= n; i++ {
		miss *= 1 - float64(k)/float64(i)
	}
	return 1 - miss
}
