package loop

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// clearAttributes removes the extended attributes of a folder that a program can set:
// a run could remember something there.
func clearAttributes(path string) error {
	buf := make([]byte, 64<<10) // the most that Linux lists
	n, err := unix.Llistxattr(path, buf)
	if errors.Is(err, unix.ENOTSUP) || n == 0 && err == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the attributes of %s: %w", path, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "trusted.") && !strings.HasPrefix(name, "system.posix_acl_") {
			continue
		}
		if err := unix.Lremovexattr(path, name); err != nil && !errors.Is(err, unix.ENODATA) {
			return fmt.Errorf("remove the attribute %q of %s: %w", name, path, err)
		}
	}
	return nil
}
