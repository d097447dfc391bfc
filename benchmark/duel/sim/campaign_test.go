package sim

import (
	"flag"
	"math"
	"testing"

	"si/benchmark/duel"
)

var campaigns = flag.Int("sim.campaigns", 60, "campaigns of each setting to simulate")

// TestLateCampaign holds the strict setting to its promise: of what it keeps in a
// late campaign at most 5 % are worth nothing.
func TestLateCampaign(t *testing.T) {
	for _, c := range []struct {
		name  string
		alpha float64
		most  float64 // share of worthless changes among the kept
	}{
		{"strict", 0.005, 0.05}, {"default", 0.01, 0.10}, {"fast", 0.05, 0.40},
	} {
		ours, older, err := Campaigns(Models()[0], duel.Config{Mode: duel.Noisy, Alpha: c.alpha}, LateCampaign(), *campaigns, 1)
		if err != nil {
			t.Fatal(err)
		}
		kept := float64(ours.Good + ours.Worthless)
		if limit := c.most + 3*math.Sqrt(c.most*(1-c.most)/kept); ours.Share() > limit {
			t.Errorf("%s: %.3f of the kept changes are worth nothing, at most %.3f expected", c.name, ours.Share(), limit)
		}
		if ours.Final < 0.035 {
			t.Errorf("%s: true final gain %.3f, the campaigns hold 0.053 on the average", c.name, ours.Final)
		}
		t.Logf("%-8s kept %.2f a campaign, worthless %.1f %%, true final gain %+.1f %%; older rule: kept %.2f, worthless %.1f %%, true %+.1f %%, claimed %+.1f %%",
			c.name, kept/float64(ours.Campaigns), 100*ours.Share(), 100*ours.Final,
			float64(older.Good+older.Worthless)/float64(older.Campaigns), 100*older.Share(), 100*older.Final, 100*older.Claimed)
	}
}
