package controlplane

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// port is one of the loopback address that is kept for a server, also before it has
// started and while it is dead: a socket that nobody listens on has it, and shares
// it with those that want to share theirs (SO_REUSEPORT), as servers are told to.
// Without that, the kernel may give it to another program in the meantime.
type port struct {
	number string
	socket int
}

// newPort has the kernel choose a port that nobody has.
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

// newPorts keeps n ports until Stop, and returns their numbers.
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
