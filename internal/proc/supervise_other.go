//go:build unix && !linux

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// rssUnit is the unit of ru_maxrss in bytes, as on macOS. (The BSDs count KiB.)
const rssUnit = 1

// orphansAreAdopted: init takes them; only the group tells whether some live.
const orphansAreAdopted = false

// adopt does nothing: only Linux lets a process adopt the orphans below it.
func adopt() error { return nil }

func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func dup(from, to int) error { return unix.Dup2(from, to) }

// below lists the command's group.
func below(leader int) []process { return groupOf(leader) }
