//go:build unix

package resident

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocket is the longest path of a socket that every system accepts, in bytes.
const maxSocket = 100

// socketOf returns the path of the socket of a spool: next to the spool, or, if that path is too long, in a folder of the user
// below the temporary folder.
func socketOf(spool string) (path string, err error) {
	if path = spool + ".sock"; len(path) < maxSocket-len(".0123456789abcdef") {
		return path, nil
	}
	sum := sha256.Sum256([]byte(spool))
	folder := filepath.Join(os.TempDir(), "graphkernel-"+strconv.Itoa(os.Getuid()))
	return filepath.Join(folder, hex.EncodeToString(sum[:8])+".sock"), nil
}

// own returns an error if a file or a folder does not belong to this user alone.
func own(path string, mode fs.FileMode) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() || info.Mode().Type() != mode.Type() || info.Mode().Perm()&^mode.Perm() != 0 {
		return nil, fmt.Errorf("%s has mode %s, want %s of the user who runs this", path, info.Mode(), mode)
	}
	return info, nil
}

func dial(ctx context.Context, spool string) (net.Conn, error) {
	path, err := socketOf(spool)
	if err != nil {
		return nil, err
	}
	if _, err := own(path, fs.ModeSocket|0o600); err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}

// ErrThere is wrapped if another process answers the hooks of a spool.
var ErrThere = errors.New("another process answers hooks")

// Listen creates the socket of a spool. It replaces a socket on which no process listens, and if over is true also a socket on
// which another process listens.
func Listen(ctx context.Context, spool string, over bool) (*Listener, error) {
	if conn, err := dial(ctx, spool); err == nil {
		if err := conn.Close(); !over || err != nil {
			return nil, errors.Join(ErrThere, err)
		}
	}
	path, err := socketOf(spool)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if folder != filepath.Dir(spool) {
		if _, err := own(folder, fs.ModeDir|0o700); err != nil {
			return nil, err
		}
	}
	fresh := path + "." + rand.Text()[:16] // nobody can connect before it has its mode
	inner, err := (&net.ListenConfig{}).Listen(ctx, "unix", fresh)
	if err != nil {
		return nil, err
	}
	inner.(*net.UnixListener).SetUnlinkOnClose(false) // it is a Unix listener
	err = os.Chmod(fresh, 0o600)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return nil, errors.Join(err, inner.Close(), os.Remove(fresh))
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return &Listener{Listener: inner, path: path, info: info}, nil
}

// Close closes the listener. It removes the socket unless another process has replaced it.
func (l *Listener) Close() error {
	if !l.Replaced() {
		_ = os.Remove(l.path)
		if folder := filepath.Dir(l.path); filepath.Dir(folder) == filepath.Clean(os.TempDir()) {
			_ = os.Remove(folder) // fails as long as other sockets are in it
		}
	}
	return l.Listener.Close()
}
