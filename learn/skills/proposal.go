package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"si/internal/durable"
)

const (
	proposalsDir = "skills-proposals"
	maxPending   = 200
	maxProposal  = 1 << 20 // bytes of one
)

// ProposalKind says what a proposal would do.
type ProposalKind string

// The kinds of proposals.
const (
	KindPatch ProposalKind = "patch" // change the skill of the name
	KindMerge ProposalKind = "merge" // make one of several, which are archived
)

// ProposalState is what became of a proposal.
type ProposalState string

// The states of proposals. A rejected one is kept, so that it is not made again.
const (
	Pending  ProposalState = "pending"
	Accepted ProposalState = "accepted"
	Rejected ProposalState = "rejected"
)

// Proposal is a change that waits for a person.
type Proposal struct {
	ID       string        `json:"id"` // P-<n>
	Kind     ProposalKind  `json:"kind"`
	State    ProposalState `json:"state"`
	Name     string        `json:"name"`
	Fields   Fields        `json:"fields"`
	Replaces []string      `json:"replaces,omitempty"` // of a merge
	Reason   string        `json:"reason,omitempty"`
	From     string        `json:"from,omitempty"` // the task that it follows from
	At       time.Time     `json:"at"`
	Digest   string        `json:"digest"` // of what it would do
}

// ErrKnown says that the same was proposed before.
var ErrKnown = errors.New("the same was proposed before")

// Proposals lists the proposals by their number; a file that cannot be read is left
// out and named in faults.
func (l *Library) Proposals() (all []Proposal, faults []string, err error) {
	entries, err := os.ReadDir(l.at(proposalsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return []Proposal{}, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the proposals: %w", err)
	}
	r, err := openRooted(l.at(proposalsDir), durable.Hooks{})
	if err != nil {
		return nil, nil, fmt.Errorf("list the proposals: %w", err)
	}
	defer r.close()
	pattern := regexp.MustCompile(`^P-\d{6,9}\.json$`)
	all = []Proposal{}
	for _, e := range entries {
		if !pattern.MatchString(e.Name()) {
			continue
		}
		var p Proposal
		data, err := r.read(e.Name(), maxProposal)
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		if err == nil && p.ID+".json" != e.Name() {
			err = fmt.Errorf("its id is %q", short(p.ID))
		}
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s cannot be used: %v", filepath.Join(r.dir, e.Name()), err))
			continue
		}
		all = append(all, p)
	}
	return all, faults, nil
}

// Propose writes a proposal down and returns its id. What was proposed before, also
// if it was rejected, is ErrKnown.
func (l *Library) Propose(ctx context.Context, p Proposal) (id string, err error) {
	if p.Digest, err = p.digest(); err != nil {
		return "", err
	}
	err = l.exclusively(ctx, func() error {
		all, _, err := l.Proposals()
		if err != nil {
			return err
		}
		if err := admit(all, p); err != nil {
			return err
		}
		p.ID, p.State, p.At = fmt.Sprintf("P-%06d", l.nextProposal()), Pending, l.now().UTC()
		return l.saveProposal(p)
	})
	return p.ID, err
}

func admit(all []Proposal, p Proposal) error {
	pending := 0
	for _, other := range all {
		if other.Digest == p.Digest {
			return fmt.Errorf("%w: %s (%s)", ErrKnown, other.ID, other.State)
		}
		if other.State == Pending {
			pending++
		}
	}
	if pending >= maxPending {
		return fmt.Errorf("%d proposals wait; look at them with 'si skills proposals' before more are made", pending)
	}
	return nil
}

// nextProposal counts on from the highest number in use, readable or not.
func (l *Library) nextProposal() int {
	names, _ := filepath.Glob(filepath.Join(globSafe(l.at(proposalsDir)), "P-*.json")) // the pattern is right
	last := 0
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(name), "P-%d.json", &n); err == nil {
			last = max(last, n)
		}
	}
	return last + 1
}

func (p Proposal) digest() (string, error) {
	data, err := json.Marshal([]any{p.Kind, p.Name, p.Fields, p.Replaces})
	if err != nil {
		return "", fmt.Errorf("make a proposal: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}

func (l *Library) saveProposal(p Proposal) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	store := durable.Store{Hooks: l.hooks}
	return store.Replace(filepath.Join(l.at(proposalsDir), p.ID+".json"), append(data, '\n'), 0o644)
}

// Proposal returns one proposal.
func (l *Library) Proposal(id string) (Proposal, error) {
	all, _, err := l.Proposals()
	if err != nil {
		return Proposal{}, err
	}
	i := slices.IndexFunc(all, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return Proposal{}, fmt.Errorf("there is no proposal %q; 'si skills proposals' lists them", short(id))
	}
	return all[i], nil
}

// Reject puts a proposal aside for good.
func (l *Library) Reject(ctx context.Context, id string) error {
	return l.exclusively(ctx, func() error {
		p, err := l.pending(id)
		if err != nil {
			return err
		}
		p.State = Rejected
		return l.saveProposal(p)
	})
}

func (l *Library) pending(id string) (Proposal, error) {
	p, err := l.Proposal(id)
	if err == nil && p.State != Pending {
		err = fmt.Errorf("the proposal %s was %s before", id, p.State)
	}
	return p, err
}

// Accept does what a proposal says.
func (l *Library) Accept(ctx context.Context, id string) error {
	p, err := l.pending(id)
	if err != nil {
		return err
	}
	switch p.Kind {
	case KindPatch:
		err = l.Patch(ctx, p.Name, p.Fields)
	case KindMerge:
		err = l.merge(ctx, p)
	default:
		err = fmt.Errorf("it is of the unknown kind %q", short(string(p.Kind)))
	}
	if err != nil {
		return fmt.Errorf("accept the proposal %s: %w", p.ID, err)
	}
	return l.exclusively(ctx, func() error {
		p.State = Accepted
		return l.saveProposal(p)
	})
}
