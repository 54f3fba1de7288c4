package controlplane

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// port is a port on the loopback address that is reserved for a server, also while the server doesn't run. A bound
// socket reserves the port. No process listens on the socket. It shares the port with servers that set SO_REUSEPORT.
// Otherwise the kernel could give the port to another program.
type port struct {
	number string
	socket int
}

// newPort lets the kernel choose a free port.
func newPort() (*port, error) {
	syscall.ForkLock.RLock() // no server inherits the socket
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	p := &port{socket: socket}
	share := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	bind := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	address, err := unix.Getsockname(socket)
	if err := errors.Join(share, bind, err); err != nil {
		return nil, errors.Join(err, p.release())
	}
	p.number = strconv.Itoa(address.(*unix.SockaddrInet4).Port)
	return p, nil
}

func (p *port) release() error { return unix.Close(p.socket) }

// newPorts reserves n ports until Stop, and returns their numbers.
func (cp *ControlPlane) newPorts(n int) (numbers []string, err error) {
	for range n {
		p, err := newPort()
		if err != nil {
			return nil, err
		}
		cp.ports = append(cp.ports, p)
		numbers = append(numbers, p.number)
	}
	return numbers, nil
}
