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

// movingMean is the mean of each point and the half before and after it. At the
// ends, where one side lacks points, it is the straight line fitted to those there
// are: their mean would lag behind a trend, and fewer points would be noise.
func movingMean(points []Point, half int) []Point {
	sums := make([]float64, len(points)+1)    // of Y
	moments := make([]float64, len(points)+1) // of index times Y
	for i, p := range points {
		sums[i+1] = sums[i] + p.Y
		moments[i+1] = moments[i] + float64(i)*p.Y
	}
	mean := make([]Point, len(points))
	for i, p := range points {
		lo, hi := max(0, i-half), min(len(points), i+half+1)
		n, middle := float64(hi-lo), float64(lo+hi-1)/2
		y := (sums[hi] - sums[lo]) / n
		if off := float64(i) - middle; off != 0 {
			slope := (moments[hi] - moments[lo] - middle*n*y) / (n * (n*n - 1) / 12)
			y += slope * off
		}
		mean[i] = Point{X: p.X, Y: y}
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
