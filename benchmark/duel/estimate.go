package duel

import (
	"math"
	"slices"
)

// shiftEstimate is the Hodges-Lehmann estimate of how much better the
// candidate is: the median of all differences, candidate minus champion,
// within blocks. 0 without any.
func shiftEstimate(blocks []block) float64 {
	d := differences(blocks)
	if len(d) == 0 {
		return 0
	}
	return median(d)
}

// differences are those of each candidate's run and each champion's run of
// the same block, so that drift between blocks does not enter.
func differences(blocks []block) []float64 {
	var out []float64
	for _, b := range blocks {
		for i, x := range b.value {
			for j, y := range b.value {
				if b.candidate[i] && !b.candidate[j] {
					out = append(out, x-y)
				}
			}
		}
	}
	return out
}

// weightedMean is the mean difference within blocks, weighted by the
// information of each, n·m/(n+m) for n and m runs of the arms; the returned
// weight is their sum. Runs are clipped at reach around their block's median.
func weightedMean(blocks []block, reach float64) (mean, weight float64) {
	for _, b := range blocks {
		difference, w := b.difference(reach)
		mean += w * difference
		weight += w
	}
	if weight > 0 {
		mean /= weight
	}
	return mean, weight
}

func (b block) difference(reach float64) (difference, weight float64) {
	centre := median(b.value)
	var sum, runs [2]float64
	for i, v := range b.value {
		arm := Champion
		if b.candidate[i] {
			arm = Candidate
		}
		sum[arm] += min(max(v-centre, -reach), reach)
		runs[arm]++
	}
	if runs[Champion] == 0 || runs[Candidate] == 0 {
		return 0, 0
	}
	weight = runs[Champion] * runs[Candidate] / (runs[Champion] + runs[Candidate])
	return sum[Candidate]/runs[Candidate] - sum[Champion]/runs[Champion], weight
}

// median of values, which must not be empty; they stay as they are.
func median(values []float64) float64 {
	v := slices.Clone(values)
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return v[n/2-1]/2 + v[n/2]/2
}

// deviation is the median absolute deviation from centre, times the factor
// that makes it the standard deviation of a normal distribution.
func deviation(values []float64, centre float64) float64 {
	d := make([]float64, len(values))
	for i, v := range values {
		d[i] = math.Abs(v - centre)
	}
	return 1.4826 * median(d)
}
