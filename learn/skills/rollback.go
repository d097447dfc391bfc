package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Rollback puts a backup in the place of the library: the newest one for "". The
// library that it replaces is kept in the folder that is returned.
func (c *Curator) Rollback(ctx context.Context, name string) (b Backup, kept string, err error) {
	err = c.lib.exclusively(ctx, func() error {
		if b, err = c.choose(name); err != nil {
			return err
		}
		if kept, err = c.freeName("skills-replaced-" + c.lib.now().UTC().Format(stampFormat)); err != nil {
			return err
		}
		if err := c.lib.transact(kept, func(next string) error {
			if err := unpack(b.Path, next); err != nil {
				return err
			}
			return verify(b.Path, next, nil)
		}); err != nil {
			return err
		}
		now := c.lib.now()
		return c.lib.changeClocks(func(k *clocks) {
			k.tick(now, c.aging.idle())
			k.LastPass = now // what was brought back has an interval before the next pass
		})
	})
	if err != nil {
		return Backup{}, "", fmt.Errorf("roll the skills back: %w", err)
	}
	return b, c.lib.at(kept), nil
}

func (c *Curator) choose(name string) (Backup, error) {
	backups, err := c.lib.Backups()
	if err != nil {
		return Backup{}, err
	}
	for _, b := range backups {
		if name == "" || b.Name == filepath.Base(name) {
			return b, nil
		}
	}
	if name == "" {
		return Backup{}, errors.New("there is no backup yet; one is made before the first pass that changes something")
	}
	return Backup{}, fmt.Errorf("there is no backup %q; 'si curator status' lists them", short(name))
}

func (c *Curator) freeName(name string) (string, error) {
	for n := 1; n < 1000; n++ {
		try := name
		if n > 1 {
			try = fmt.Sprintf("%s-%d", name, n)
		}
		if _, err := os.Lstat(c.lib.at(try)); os.IsNotExist(err) {
			return try, nil
		}
	}
	return "", fmt.Errorf("all names like %s are taken in %s; remove those that you no longer need", name, c.lib.base)
}
