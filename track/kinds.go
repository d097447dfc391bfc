package track

import "slices"

// Kinds are the kinds of events that may be written, in the order of events.go.
func Kinds() []Kind {
	return []Kind{
		EvRunStarted, EvRunEnded, EvSetup, EvRoundStarted, EvRoundEnded, EvStepStarted, EvStepEnded,
		EvAgentStarted, EvAgentEnded, EvAgentFailed, EvAgentSkipped, EvPlanReady, EvPlanReviewed, EvCandidate,
		EvMeasured, EvGuard, EvVerdict, EvCanary, EvLeftOut, EvMerged, EvArchived, EvConfigChange, EvControl, EvCheckout, EvWarning,
		EvCleanup, EvJournalRepair,
	}
}

func (k Kind) known() bool { return slices.Contains(Kinds(), k) }
