package lazyre_test

import (
	"slices"
	"testing"

	"si/internal/lazyre"
)

func TestSameAsRegexp(t *testing.T) {
	re := lazyre.New(`(?P<name>[a-z]+)=(?P<value>\d+)`)
	if !re.MatchString("x a=1") || re.MatchString("a=") || re.FindString("x a=1 b=2") != "a=1" {
		t.Error("it does not match as its expression does")
	}
	if got := re.FindStringSubmatch("a=1"); !slices.Equal(got, []string{"a=1", "a", "1"}) || re.SubexpIndex("value") != 2 {
		t.Errorf("groups %q", got)
	}
}

// TestAWrongExpression: naming one costs nothing, using it tells the fault.
func TestAWrongExpression(t *testing.T) {
	re := lazyre.New("(")
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was used without a word")
		}
	}()
	re.MatchString("")
}
