package agents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// draftAndAnswer is an answer with a whole draft before the document that counts.
func draftAndAnswer(r *rand.Rand) (draft, last, text string, err error) {
	var docs [2]string
	for i := range docs {
		data, err := json.Marshal(map[string]any{"hypothesis": fmt.Sprintf("%d %s", i, randomText(r)), "steps": randomValue(r, 3)})
		if err != nil {
			return "", "", "", err
		}
		docs[i] = string(data)
	}
	return docs[0], docs[1], "a draft:\n" + docs[0] + "\nno, rather:\n```json\n" + docs[1] + "\n```\nThat is all.", nil
}

// The last document counts, whatever stands in the texts of both.
func TestExtractTakesTheLastOfTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		_, last, text, err := draftAndAnswer(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := extract(text, keys()); got.object != last {
			t.Fatalf("extract(%q) = %q", text, got.object)
		}
	}
}

// An answer that was cut anywhere gives the draft as it was, the document as it
// was, or nothing: never a part of one.
func TestExtractOfEveryPrefixInventsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		draft, last, text, err := draftAndAnswer(r)
		if err != nil {
			t.Fatal(err)
		}
		for end := range len(text) {
			got := extract(text[:end], keys())
			if got.object != "" && got.object != draft && got.object != last {
				t.Fatalf("extract(%q) = %q", text[:end], got.object)
			}
			if whole := strings.Index(text, last) + len(last); end >= whole && got.object != last {
				t.Fatalf("the document is lost in %q", text[:end])
			}
		}
	}
}

// What is told of a document does not depend on how its JSON is written.
func TestFaultsDoNotDependOnLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		doc := map[string]any{"hypothesis": randomValue(r, 2), "steps": randomValue(r, 3), "target_files": randomValue(r, 2), "expected_outcome": randomValue(r, 3)}
		tight, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		wide, err := json.MarshalIndent(doc, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		c := planContract(sampleTask(Planner, "planner_a"))
		_, a := c.parse(string(tight))
		_, b := c.parse("Here:\n" + string(wide))
		if got, want := strings.Join(b.faults, "\n"), strings.Join(a.faults, "\n"); got != want {
			t.Fatalf("%s\n\nand\n\n%s", got, want)
		}
	}
}
