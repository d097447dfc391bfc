package loop

import ("si/internal/durable"; "si/track")

func DrawChart(store *durable.Store, paths track.Paths) error { return nil }
