package scene

// Ring keeps the last values that were put into it and counts the rest.
type Ring[T any] struct {
	values []T
	start  int
	most   int
	lost   int
}

// NewRing keeps at most most values.
func NewRing[T any](most int) *Ring[T] { return &Ring[T]{most: most} }

// Put appends a value; the oldest one gives way.
func (r *Ring[T]) Put(v T) {
	if len(r.values) < r.most {
		r.values = append(r.values, v)
		return
	}
	r.values[r.start] = v
	r.start = (r.start + 1) % r.most
	r.lost++
}

// Len is how many values are kept.
func (r *Ring[T]) Len() int { return len(r.values) }

// Lost is how many have given way.
func (r *Ring[T]) Lost() int { return r.lost }

// At is the value i places behind the oldest one that is kept.
func (r *Ring[T]) At(i int) T { return r.values[(r.start+i)%len(r.values)] }

// last is the newest value, nil when there is none.
func (r *Ring[T]) last() *T {
	if len(r.values) == 0 {
		return nil
	}
	return &r.values[(r.start+len(r.values)-1)%len(r.values)]
}

// Tail returns the last n values, oldest first.
func (r *Ring[T]) Tail(n int) []T {
	n = max(0, min(n, r.Len()))
	out := make([]T, 0, n)
	for i := r.Len() - n; i < r.Len(); i++ {
		out = append(out, r.At(i))
	}
	return out
}
