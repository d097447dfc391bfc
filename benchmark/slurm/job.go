package slurm

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// job is a record at work. One call at a time uses it.
type job struct {
	l      *Launcher
	rec    *record
	folder folder
	fresh  bool          // made by this call and not given to the scheduler yet
	limit  time.Duration // of the whole job
}

func (l *Launcher) attach(r *record) *job {
	return &job{l: l, rec: r, folder: folder(filepath.Join(l.jobDir(), r.Folder))}
}

// create makes the folder of a new job. Its record is written with its first
// order, when there is something to find again.
func (l *Launcher) create(name, key, node string) (*job, error) {
	id, err := l.random(16)
	if err != nil {
		return nil, err
	}
	j := l.attach(&record{Name: name, Key: key, Folder: id, Attempt: 1, Node: node, Made: l.o.Now()})
	j.fresh = true
	if err := os.Mkdir(string(j.folder), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the job: %w", err)
	}
	for _, path := range []string{j.folder.inbox(), j.folder.progress()} {
		if err := j.folder.touch(path); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (l *Launcher) random(n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(l.o.Random, b); err != nil {
		return "", fmt.Errorf("draw a random name: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// order gives the job its next run, and says its number. An order is on record
// before the job can see it.
func (j *job) order(key string, w wire, last bool) (int, error) {
	digest, err := w.digest()
	if err != nil {
		return 0, err
	}
	j.rec.Runs = append(j.rec.Runs, run{Key: key, Digest: digest, Max: w.answerMax()})
	seq := len(j.rec.Runs)
	return seq, j.deliver(seq, w, last)
}

func (j *job) deliver(seq int, w wire, last bool) error {
	nonce, err := j.l.random(32)
	if err != nil {
		return err
	}
	j.rec.Runs[seq-1].Secret = digestOf(nonce)
	if err := j.folder.touch(j.folder.result(seq)); err != nil {
		return err
	}
	if err := j.l.saveRecord(j.rec); err != nil {
		return err
	}
	o := order{Seq: seq, Nonce: nonce, Last: last, Lease: j.l.o.Lease, Command: w}
	return j.folder.write(&j.l.store, j.folder.inbox(), o)
}

// undelivered reports whether the job can no longer get order seq unless it is
// given again: this program was killed between the record and the order.
func (j *job) undelivered(seq int) (bool, error) {
	waiting, err := j.folder.read(j.folder.inbox(), messageMax)
	if err != nil || len(waiting) > 0 {
		return false, err
	}
	p, err := j.progress()
	return err == nil && p.Seq < seq, err
}

func (j *job) progress() (progress, error) {
	var p progress
	_, err := j.folder.load(j.folder.progress(), 64<<10, &p)
	if !plainWord(p.Node) {
		p.Node = ""
	}
	return p, err
}

// answer gives the answer to order seq, if it is there. A file that is not the
// job's own is no answer.
func (j *job) answer(seq int) (answer, bool, error) {
	var a answer
	there, err := j.folder.load(j.folder.result(seq), j.rec.Runs[seq-1].Max, &a)
	if err != nil || !there {
		return answer{}, false, err
	}
	secret := j.rec.Runs[seq-1].Secret
	if a.Seq != seq || subtle.ConstantTimeCompare([]byte(digestOf(a.Nonce)), []byte(secret)) != 1 {
		return answer{}, false, errForged
	}
	if !plainWord(a.Node) {
		a.Node = ""
	}
	return a, true, nil
}

var errForged = errors.New("the result file is not the job's own: something else wrote it")

// numberOf is the number of the run of that key, 0 when there is none.
func (r *record) numberOf(key string) int {
	for i, run := range slices.Backward(r.Runs) {
		if run.Key == key {
			return i + 1
		}
	}
	return 0
}

func (j *job) submission() submission {
	return submission{
		name: j.rec.Name, mark: fmt.Sprintf("%s.%d", j.rec.Folder, j.rec.Attempt),
		script: j.folder.script(j.rec.Attempt), node: j.rec.Node, limit: j.limit,
	}
}

// submit hands the job to the scheduler, unless it has it already. A scheduler
// that does not answer is asked again for a while, and first whether it took the
// job all the same.
func (j *job) submit(ctx context.Context) error {
	if j.rec.Job != "" {
		return nil
	}
	s := j.submission()
	if err := j.writeScript(s.script); err != nil {
		return err
	}
	for since := j.l.o.Now(); ; {
		id, err := j.submitOnce(ctx, s)
		if err == nil {
			j.rec.Job = id
			return j.l.saveRecord(j.rec)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, errAway) {
			return err
		}
		if j.l.o.Now().Sub(since) > j.l.o.Patience {
			return &JobError{Name: j.rec.Name, What: err.Error(), Kind: ErrUndecided, away: true}
		}
		j.l.o.Watch(Progress{Key: j.rec.Key, State: "unknown", Reason: err.Error()})
		j.l.o.Pause(ctx, j.l.o.Poll)
	}
}

// submitOnce does not let go half-way when ctx ends: a job whose number nobody
// read would go on unseen.
func (j *job) submitOnce(ctx context.Context, s submission) (string, error) {
	whole := context.WithoutCancel(ctx)
	if !j.fresh {
		if id, err := j.l.sched.find(whole, s); err != nil || id != "" {
			return id, err
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	j.fresh = false
	return j.l.sched.submit(whole, s)
}

func (j *job) writeScript(path string) error {
	program, err := j.l.copyProgram()
	if err != nil {
		return err
	}
	if err := j.l.store.Replace(path, []byte(script(program, j.folder, j.rec.Attempt)), 0o700); err != nil {
		return fmt.Errorf("write the script of the job: %w", err)
	}
	return nil
}

// drop removes what is kept of the job. The record goes first: without it the
// folder is found to be nobody's and is removed by Sweep.
func (j *job) drop() error {
	if err := j.l.store.Remove(j.l.recordPath(j.rec.Name)); err != nil {
		return err
	}
	if err := os.RemoveAll(string(j.folder)); err != nil {
		return fmt.Errorf("remove the folder of job %s: %w", j.rec.Name, err)
	}
	return nil
}
