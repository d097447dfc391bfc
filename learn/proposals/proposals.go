// Package proposals keeps changes that wait for a person: what an agent wants to
// change where the policy says GATED. A decision is never forgotten, so that what was
// rejected is not proposed again. Approving writes exactly the content that was
// shown, and nothing when the files have changed since. Nothing here decides.
package proposals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"si/internal/clean"
	"si/learn/place"
)

// Limits.
const (
	maxPending = 100
	maxFiles   = 20
	maxContent = 256 << 10 // bytes of one file
	maxText    = 1000      // code points of a title or a reason
)

// State is what became of a proposal.
type State string

// The states of a proposal.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Rejected State = "rejected"
)

// Proposal is a change that waits for a person, L/proposals/P-<n>.json.
type Proposal struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Reason string    `json:"reason"`         // why the change is wanted
	From   []string  `json:"from,omitempty"` // proofs and ids that it follows from
	Run    string    `json:"run,omitempty"`
	At     time.Time `json:"at"`
	Files  []File    `json:"files"`
	State  State     `json:"state"`
	Said   string    `json:"decision_reason,omitempty"`
	Since  time.Time `json:"decided_at,omitzero"`
	Digest string    `json:"digest"` // of what it would do
}

// File is one file of a proposal.
type File struct {
	Path    string  `json:"path"`             // from the top, with slashes
	Before  string  `json:"before,omitempty"` // SHA-256 of the content that it replaces; "" for an absent file
	Content *string `json:"content"`          // nil deletes the file
}

// Errors that a caller tells apart.
var (
	// ErrKnown says that the same was proposed before.
	ErrKnown = errors.New("the same was proposed before")
	// ErrChanged says that a file is not any more what the proposal was made for.
	ErrChanged = errors.New("the file has changed since; reject the proposal, and it can be made anew")
)

// Paths are the files that it would change.
func (p Proposal) Paths() []string {
	var out []string
	for _, f := range p.Files {
		out = append(out, f.Path)
	}
	return out
}

var idForm = regexp.MustCompile(`^P-([1-9][0-9]{0,8})$`)

func number(id string) int {
	m := idForm.FindStringSubmatch(id)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // the form holds digits alone
	return n
}

// Hash names a content, "" an absent one.
func Hash(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// List returns the proposals by their number. A file that cannot be read is left out
// and told in faults.
func List(p place.Place) (all []Proposal, faults []string, err error) {
	names, err := p.Files(p.Proposals(), ".json")
	if err != nil {
		return nil, nil, fmt.Errorf("list the proposals: %w", err)
	}
	all = []Proposal{}
	for _, name := range names {
		one, err := load(p, name)
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Proposal) int { return number(a.ID) - number(b.ID) })
	return all, faults, nil
}

func load(p place.Place, name string) (Proposal, error) {
	data, err := p.Read(name)
	if err != nil {
		return Proposal{}, err
	}
	return Parse(name, data)
}

// Parse reads the file of a proposal.
func Parse(name string, data []byte) (Proposal, error) {
	var one Proposal
	err := json.Unmarshal(data, &one)
	switch {
	case err != nil:
	case number(one.ID) == 0 || one.ID+".json" != path.Base(name):
		err = fmt.Errorf("its id is %.40q", one.ID)
	case !slices.Contains([]State{Pending, Approved, Rejected}, one.State):
		err = fmt.Errorf("its state is %.40q", one.State)
	default:
		err = one.check()
	}
	if err != nil {
		return one, fmt.Errorf("read the proposal %s: %w", name, err)
	}
	return one, nil
}

// Get returns one proposal.
func Get(p place.Place, id string) (Proposal, error) {
	if number(id) == 0 {
		return Proposal{}, fmt.Errorf("%.40q is no id of a proposal, such as P-3", id)
	}
	name := p.Proposals() + "/" + id + ".json"
	data, err := p.Read(name)
	if err == nil && data == nil {
		err = fmt.Errorf("there is no proposal %s; 'si proposals list' shows them", id)
	}
	if err != nil {
		return Proposal{}, err
	}
	return Parse(name, data)
}

func (p Proposal) check() error {
	if len(p.Files) == 0 || len(p.Files) > maxFiles {
		return fmt.Errorf("it has %d files, want 1 to %d", len(p.Files), maxFiles)
	}
	if p.Title == "" || utf8.RuneCountInString(p.Title) > maxText || utf8.RuneCountInString(p.Reason) > maxText {
		return fmt.Errorf("its title or its reason is empty or longer than %d code points", maxText)
	}
	for _, f := range p.Files {
		if f.Path == "" || path.Clean(f.Path) != f.Path || path.IsAbs(f.Path) || f.Path == ".." || strings.HasPrefix(f.Path, "../") {
			return fmt.Errorf("%.100q is no path inside the repository", f.Path)
		}
		if f.Content != nil && len(*f.Content) > maxContent {
			return fmt.Errorf("%s has more than %d bytes", f.Path, maxContent)
		}
	}
	return nil
}

func (p Proposal) digest() string {
	h := sha256.New()
	for _, f := range p.Files {
		after := "deleted"
		if f.Content != nil {
			after = Hash([]byte(*f.Content))
		}
		fmt.Fprintf(h, "%q %s\n", f.Path, after) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Make writes a proposal down and returns it with its id. What waits already, or was
// rejected, is ErrKnown, with the earlier one returned.
func Make(ctx context.Context, p place.Place, wanted Proposal) (Proposal, error) {
	wanted.Title = clean.Line(wanted.Title, maxText)
	wanted.Reason = clean.Line(wanted.Reason, maxText)
	if err := wanted.check(); err != nil {
		return wanted, fmt.Errorf("make a proposal: %w", err)
	}
	wanted.Digest, wanted.State = wanted.digest(), Pending
	release, err := p.Lock(ctx)
	if err != nil {
		return wanted, err
	}
	defer release()
	all, _, err := List(p)
	if err != nil {
		return wanted, err
	}
	pending, last := 0, 0
	for _, other := range all {
		if other.Digest == wanted.Digest && other.State != Approved {
			return other, fmt.Errorf("%w: %s (%s)", ErrKnown, other.ID, other.State)
		}
		last = max(last, number(other.ID))
		if other.State == Pending {
			pending++
		}
	}
	if pending >= maxPending {
		return wanted, fmt.Errorf("make a proposal: %d wait already; decide about them with 'si proposals' first", pending)
	}
	if last, err = highest(p, last); err != nil {
		return wanted, err
	}
	wanted.ID = fmt.Sprintf("P-%d", last+1)
	return wanted, save(p, wanted)
}

// highest counts files that cannot be read too: their numbers are in use.
func highest(p place.Place, last int) (int, error) {
	names, err := p.Files(p.Proposals(), ".json")
	for _, name := range names {
		last = max(last, number(strings.TrimSuffix(path.Base(name), ".json")))
	}
	return last, err
}

func save(p place.Place, one Proposal) error {
	data, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return fmt.Errorf("write the proposal %s: %w", one.ID, err)
	}
	return p.Write(p.Proposals()+"/"+one.ID+".json", append(data, '\n'))
}
