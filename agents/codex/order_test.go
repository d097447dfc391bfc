package codex

import (
	"testing"

	"si/agents"
	"si/agents/stream"
	"si/agents/stream/streamtest"
)

func TestOrders(t *testing.T) {
	got := streamtest.TellOrders(t, func(o stream.Options) stream.Program { return program{o.WithDefaults("codex")} })
	streamtest.Golden(t, "orders.golden", got, *update)
}

func TestValuesAreTOML(t *testing.T) {
	for in, want := range map[string]string{
		`a"b\c`: `"a\"b\\c"`, "line\nbreak\x01": `"line\nbreak\u0001"`, "del\x7f": `"del\u007f"`, "größe": `"größe"`, "<&>": `"\u003c\u0026\u003e"`,
	} {
		if got := quoted(in); got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
	}
}

func TestTheNameOfAServerCannotBreakOut(t *testing.T) {
	for _, name := range []string{"", `a.b`, `x"]`, "a b", "a=b"} {
		if _, err := servers([]agents.MCPServer{{Name: name, Command: "x"}}); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
}
