// A candidate of client-go's leader election, for the test that ours takes turns with it on one Lease.
//
//	elector KUBECONFIG NAMESPACE NAME IDENTITY SECONDS
//
// A Lease lasts for so many seconds, with the renew deadline and the retry period in client-go's usual proportions. It prints "leading" and "stopped", releases the Lease at SIGTERM, and ends.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	kubeconfig, namespace, name, identity := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	seconds, err := time.ParseDuration(os.Args[5] + "s")
	if err != nil {
		panic(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
			Client:     kubernetes.NewForConfigOrDie(config).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   seconds,
		RenewDeadline:   seconds * 2 / 3,
		RetryPeriod:     seconds * 2 / 15,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leading") },
			OnStoppedLeading: func() { fmt.Println("stopped") },
		},
	})
}
