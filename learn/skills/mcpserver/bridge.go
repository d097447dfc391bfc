package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// lastWords is how long a bridge waits for answers when its agent has ended.
const lastWords = 5 * time.Second

// Bridge carries the bytes between an agent and the door at path: `si mcp --connect`.
// It ends when in ends and what was asked is answered, when the door is closed, or with
// ctx. A read of in that is under way then is left to the end of the process.
func Bridge(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	address, done, err := reach(path)
	if err != nil {
		return fmt.Errorf("connect to the loop: %w", err)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
	done()
	if err != nil {
		return fmt.Errorf("connect to the loop at %s: %w; it may have ended", path, err)
	}
	defer c.Close()               // both ways are done
	asked := aside(func() error { // ends with in, or with the process
		_, err := io.Copy(c, in)
		return errors.Join(err, c.(*net.UnixConn).CloseWrite())
	})
	answered := aside(func() error { // ends when the connection does
		_, err := io.Copy(out, c)
		return err
	})
	select {
	case err := <-answered:
		return ended(err)
	case <-ctx.Done():
		return nil
	case err := <-asked:
		if err != nil {
			return ended(err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(lastWords)) // the connection is open
	return ended(<-answered)
}

// aside does one thing in a goroutine and tells how it ended.
func aside(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("it crashed: %v", p)
			}
		}()
		done <- do()
	}()
	return done
}

func ended(err error) error {
	if err == nil || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("carry between the agent and the loop: %w", err)
}
