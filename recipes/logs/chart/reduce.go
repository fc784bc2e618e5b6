package chart

// maxPoints is how many points of a stretch are drawn; a figure is some thousand
// pixels wide.
const maxPoints = 1500

// thin keeps the first, lowest, highest and last point of each of maxPoints/4 equal
// buckets, so that spikes stay visible.
func thin(points []Point) []Point {
	if len(points) <= maxPoints {
		return points
	}
	const buckets = maxPoints / 4
	kept := make([]Point, 0, maxPoints)
	for b := range buckets {
		bucket := points[b*len(points)/buckets : (b+1)*len(points)/buckets]
		low, high := 0, 0
		for i, p := range bucket {
			if p.Y < bucket[low].Y {
				low = i
			}
			if p.Y > bucket[high].Y {
				high = i
			}
		}
		last := -1
		for _, i := range []int{0, min(low, high), max(low, high), len(bucket) - 1} {
			if i > last {
				kept = append(kept, bucket[i])
				last = i
			}
		}
	}
	return kept
}

// smoothFrom is the number of points from which a smooth series is drawn as
// points and moving mean.
const smoothFrom = 60

// movingMean is the mean of each point and the half before and after it, fewer
// at the ends.
func movingMean(points []Point, half int) []Point {
	sums := make([]float64, len(points)+1)
	for i, p := range points {
		sums[i+1] = sums[i] + p.Y
	}
	mean := make([]Point, len(points))
	for i, p := range points {
		h := min(half, i, len(points)-1-i) // symmetric, so that the ends do not lag
		lo, hi := i-h, i+h+1
		mean[i] = Point{X: p.X, Y: (sums[hi] - sums[lo]) / float64(hi-lo)}
	}
	return mean
}

// Smoothed says whether a figure draws the moving mean of any series.
func (f *Figure) Smoothed() bool {
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if s.Smooth && count(s.Points) >= smoothFrom {
				return true
			}
		}
	}
	return false
}

// count is how many points are drawn.
func count(points []Point) int {
	n := 0
	for _, segment := range segments(points) {
		n += len(segment)
	}
	return n
}
