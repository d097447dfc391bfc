package claude

import (
	"testing"

	"si/agents/stream"
	"si/agents/stream/streamtest"
)

func TestOrders(t *testing.T) {
	got := streamtest.TellOrders(t, func(o stream.Options) stream.Program { return program{o.WithDefaults("claude")} })
	streamtest.Golden(t, "orders.golden", got, *update)
}
