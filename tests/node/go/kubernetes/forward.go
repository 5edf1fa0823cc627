package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// forward accepts TCP connections on the machine's loopback and joins each to a connection that it makes inside another
// network namespace. Nothing else leads from one to the other: there is no interface and no route between them.
//
// Usage: forward NAMESPACE ADDRESS, such as /proc/4711/ns/net and 172.18.0.2:6443. It prints the address where it listens.
func forward(args []string) {
	if len(args) != 2 {
		fail("usage: forward NAMESPACE ADDRESS")
	}
	namespace, err := unix.Open(args[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fail(args[0], err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	fmt.Println(listener.Addr())
	for {
		client, err := listener.Accept()
		if err != nil {
			fail(err)
		}
		go join(client, namespace, args[1])
	}
}

func join(client net.Conn, namespace int, address string) {
	defer client.Close()
	server, err := dialIn(namespace, address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "forward:", err)
		return
	}
	defer server.Close()
	done := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
		done <- struct{}{}
	}
	go carry(server, client)
	go carry(client, server)
	<-done
	<-done
}

// dialIn connects from inside a namespace. Only a thread of its own may enter one; it is never unlocked, so the runtime
// ends it together with the goroutine.
func dialIn(namespace int, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(namespace, unix.CLONE_NEWNET); err != nil {
			results <- result{nil, err}
			return
		}
		conn, err := net.Dial("tcp", address)
		results <- result{conn, err}
	}()
	found := <-results
	return found.conn, found.err
}

func fail(words ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"forward:"}, words...)...)
	os.Exit(1)
}
