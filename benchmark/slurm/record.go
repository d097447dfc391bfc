package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// record is what is kept of a job, so that this program finds it again after it
// was killed. It is on disk before the job is submitted.
type record struct {
	Name    string    `json:"name"`
	Key     string    `json:"key"`
	Folder  string    `json:"folder"`  // its name in the folder of jobs: random
	Attempt int       `json:"attempt"` // number of the submission, from 1
	Job     string    `json:"job"`     // the scheduler's id, "" until it is known
	Node    string    `json:"node"`    // that it must run on, "" for any
	Made    time.Time `json:"made"`    // when this submission was prepared
	Runs    []run     `json:"runs"`    // run N is order N+1
}

// run is one order. The answer has to hold a text of that digest, which the
// command that is measured has not seen: the job takes it out of the order before
// it begins.
type run struct {
	Key    string `json:"key"`
	Digest string `json:"digest"` // of the command
	Secret string `json:"secret"` // digest of the nonce
	Max    int64  `json:"max"`    // bytes of the answer that are read
}

const recordMax = 16 << 20

func (l *Launcher) recordPath(name string) string {
	return filepath.Join(l.recordDir(), name+".json")
}

// loadRecord reads the record of a name, nil when there is none.
func (l *Launcher) loadRecord(name string) (*record, error) {
	path := l.recordPath(name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of a job: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > recordMax {
		return nil, fmt.Errorf("read the record of a job: %s is no regular file of at most %d bytes; remove it", path, recordMax)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the record of a job: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read the record of a job %s: %w; remove it, and look for a job named %s", path, err, name)
	}
	if r.Name != name || !plainWord(r.Folder) || r.Folder == "." || r.Folder == ".." || strings.HasPrefix(r.Job, "-") || r.Node != "" && !plainWord(r.Node) {
		return nil, fmt.Errorf("read the record of a job: %s is damaged; remove it, and look for a job named %s", path, name)
	}
	return &r, nil
}

func (l *Launcher) saveRecord(r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the record of job %s: %w", r.Name, err)
	}
	if err := l.store.Replace(l.recordPath(r.Name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the record of job %s: %w", r.Name, err)
	}
	return nil
}

// recordNames lists the jobs that are on record.
func (l *Launcher) recordNames() ([]string, error) {
	entries, err := os.ReadDir(l.recordDir())
	if err != nil {
		return nil, fmt.Errorf("list the records of jobs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && e.Type().IsRegular() && plainWord(name) {
			names = append(names, name)
		}
	}
	return names, nil
}
