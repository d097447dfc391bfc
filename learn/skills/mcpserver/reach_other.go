//go:build !linux

package mcpserver

import "fmt"

// longest is the most bytes of a socket's address, its end included.
const longest = 104

// reach is an address for the socket at path.
func reach(path string) (address string, done func(), err error) {
	if len(path) >= longest {
		return "", nil, fmt.Errorf("the path %s is too long for a socket, %d bytes; choose a shorter folder for workspaces", path, len(path))
	}
	return path, func() {}, nil
}
