package place

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// editTries bounds how often an edit starts again because a person saved the file
// in the middle of it.
const editTries = 5

// ErrBusy says that a file kept changing while it was to be edited.
var ErrBusy = errors.New("the file changed each time that it was to be written; close the program that writes it, then try again")

// Edit replaces a learned file by what change makes of it, and leaves it alone when
// that is the same. change gets nil for an absent file, and is called again when
// somebody has written the file in the meantime: that edit is kept. The caller holds
// the lock. The file keeps its mode, and a link to it stays a link.
func (p Place) Edit(name string, change func(old []byte) ([]byte, error)) error {
	for range editTries {
		old, err := p.Read(name)
		if err != nil {
			return err
		}
		data, err := change(old)
		if err != nil || old != nil && bytes.Equal(old, data) {
			return err
		}
		now, err := p.Read(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, now) || (old == nil) != (now == nil) {
			continue
		}
		return p.write(name, data)
	}
	return fmt.Errorf("write %s: %w", name, ErrBusy)
}

// Write replaces a learned file. The caller holds the lock.
func (p Place) Write(name string, data []byte) error {
	return p.Edit(name, func([]byte) ([]byte, error) { return data, nil })
}

func (p Place) write(name string, data []byte) error {
	target, err := p.target(name)
	if err != nil {
		return err
	}
	perm := os.FileMode(0o644)
	if info, err := os.Lstat(target); err == nil {
		perm = info.Mode().Perm()
	}
	if err := p.store.Within(p.top).Replace(target, data, perm); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Remove deletes a learned file. One that is not there is no error.
func (p Place) Remove(name string) error {
	target, err := p.target(name)
	if err != nil {
		return err
	}
	if err := p.store.Within(p.top).Remove(target); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}
