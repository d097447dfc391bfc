// Package price tells what tokens cost. It knows the prices of some models at the
// date that its table names, in USD for a million tokens, and those that the user
// has put into a file; of any other model it says that it does not know.
package price

import (
	_ "embed" // the table
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"si/agents"
)

//go:embed prices.json
var builtIn []byte

// maxTable is the size of a file of prices, in bytes.
const maxTable = 1 << 20

// Price is what a million tokens of a model cost, in USD. CacheRead and CacheWrite
// are those of Input when they are left out.
type Price struct {
	Model      string   `json:"model"`
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Table holds prices. It does not change, and is safe for concurrent use.
type Table struct {
	Date   string  `json:"date"` // when the prices were looked up, YYYY-MM-DD
	Prices []Price `json:"prices"`
}

// Default is the table that si comes with.
func Default() (Table, error) {
	t, err := parse(builtIn)
	if err != nil {
		return Table{}, fmt.Errorf("read the prices that are built in: %w", err)
	}
	return t, nil
}

// Load is Default with the prices of the file at path before it; "" is no file,
// and so is one that does not exist.
func Load(path string) (Table, error) {
	t, err := Default()
	if err != nil || path == "" {
		return t, err
	}
	data, err := readFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return Table{}, fmt.Errorf("read the prices of models: %w", err)
	}
	own, err := parse(data)
	if err != nil {
		return Table{}, fmt.Errorf("read the prices of models in %s: %w", path, err)
	}
	t.Prices = append(own.Prices, t.Prices...)
	return t, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTable+1))
	if err == nil && len(data) > maxTable {
		err = fmt.Errorf("%s has more than %d bytes", path, maxTable)
	}
	return data, err
}

func parse(data []byte) (Table, error) {
	var t Table
	if err := json.Unmarshal(data, &t); err != nil {
		return Table{}, err
	}
	for i, p := range t.Prices {
		numbers := []float64{p.Input, p.Output, value(p.CacheRead, 0), value(p.CacheWrite, 0)}
		if p.Model == "" || slices.ContainsFunc(numbers, func(v float64) bool { return v < 0 || v > 1e6 || math.IsNaN(v) }) {
			return Table{}, fmt.Errorf("prices[%d]: want the name of a model, and prices from 0 to 1000000 USD for a million tokens", i)
		}
	}
	return t, nil
}

func value(p *float64, otherwise float64) float64 {
	if p == nil {
		return otherwise
	}
	return *p
}

// Cost is what u costs with model, in USD, nil when the price is not known. A
// name that ends in a date, or in -latest, is that of the model without it: nothing
// else is guessed, since a name that only resembles another has another price.
func (t Table) Cost(model string, u agents.Usage) *float64 {
	p, found := t.find(model)
	if !found {
		return nil
	}
	usd := (float64(u.Input)*p.Input + float64(u.Output)*p.Output +
		float64(u.CacheRead)*value(p.CacheRead, p.Input) + float64(u.CacheWrite)*value(p.CacheWrite, p.Input)) / 1e6
	return &usd
}

func (t Table) find(model string) (Price, bool) {
	dated := regexp.MustCompile(`(-latest|[-@]20\d{6}|-20\d\d-\d\d-\d\d)$`)
	for _, name := range []string{model, dated.ReplaceAllString(model, "")} {
		for _, p := range t.Prices {
			if strings.EqualFold(p.Model, name) {
				return p, true
			}
		}
	}
	return Price{}, false
}
