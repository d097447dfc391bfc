package track

import "slices"

// Kinds are the kinds of events that may be written, in the order of events.go, then those
// of learning.
func Kinds() []Kind {
	return slices.Concat([]Kind{
		EvRunStarted, EvRunEnded, EvSetup, EvRoundStarted, EvRoundEnded, EvStepStarted, EvStepEnded,
		EvAgentStarted, EvAgentEnded, EvAgentFailed, EvAgentSkipped, EvNothing, EvPlanReady, EvPlanReviewed, EvCandidate,
		EvMeasured, EvGuard, EvVerdict, EvCanary, EvLeftOut, EvMerged, EvArchived, EvConfigChange, EvControl, EvSteered, EvReviewed, EvParked, EvUnparked, EvCheckout, EvWarning,
		EvCleanup, EvJournalRepair,
	}, learnKinds())
}

func (k Kind) known() bool { return slices.Contains(Kinds(), k) }
