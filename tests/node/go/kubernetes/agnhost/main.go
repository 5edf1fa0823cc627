// Command agnhost is the part of Kubernetes' test image of that name that the examples start: an HTTP server.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/test/images/agnhost/netexec"
)

func main() {
	command := &cobra.Command{Use: "agnhost"}
	command.AddCommand(netexec.CmdNetexec)
	if command.Execute() != nil {
		os.Exit(1)
	}
}
