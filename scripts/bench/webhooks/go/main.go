// The other side of the webhook benchmark: a webhook server of controller-runtime, and the load for both servers.
//
//	webhooks serve -cert DIR -port PORT
//	webhooks load -url URL -body FILE -connections N -seconds S
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	hub "sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("say serve or load"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	cert := flags.String("cert", "", "folder with tls.crt and tls.key")
	port := flags.Int("port", 9443, "where to listen")
	url := flags.String("url", "", "what to ask")
	body := flags.String("body", "", "file with the review")
	connections := flags.Int("connections", 1, "how many clients, each with a connection of its own")
	seconds := flags.Float64("seconds", 5, "for how long")
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(err)
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(*cert, *port)
	case "load":
		err = load(*url, *body, *connections, time.Duration(*seconds*float64(time.Second)))
	default:
		err = fmt.Errorf("unknown command %q", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// The policy of controllers/image-policy.ts.
type imagePolicy struct{}

func (imagePolicy) Default(_ context.Context, pod *corev1.Pod) error {
	if pod.Spec.SecurityContext == nil {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	if pod.Spec.SecurityContext.SeccompProfile == nil {
		pod.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	return nil
}

func tagOf(image string) string {
	if strings.Contains(image, "@") {
		return ""
	}
	name := image[strings.LastIndex(image, "/")+1:]
	if colon := strings.Index(name, ":"); colon >= 0 {
		return name[colon+1:]
	}
	return "latest"
}

func (imagePolicy) check(pod *corev1.Pod) (admission.Warnings, error) {
	for _, some := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for _, container := range some {
			if tagOf(container.Image) == "latest" {
				return nil, fmt.Errorf("images must name a version: %s", container.Image)
			}
		}
	}
	return nil, nil
}

func (p imagePolicy) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return p.check(pod)
}

func (p imagePolicy) ValidateUpdate(_ context.Context, _, pod *corev1.Pod) (admission.Warnings, error) {
	return p.check(pod)
}

func (imagePolicy) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func serve(cert string, port int) error {
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	addWidgets(scheme)
	registry := conversion.NewRegistry()
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: cert})
	server.Register("/mutate--v1-pod", admission.WithDefaulter[*corev1.Pod](scheme, imagePolicy{}))
	server.Register("/validate--v1-pod", admission.WithValidator[*corev1.Pod](scheme, imagePolicy{}))
	server.Register("/convert", conversion.NewWebhookHandler(scheme, registry))
	context, stop := signal.NotifyContext(ctrl.SetupSignalHandler(), syscall.SIGTERM)
	defer stop()
	return server.Start(context)
}

// A kind with two versions, converted as controllers written with kubebuilder do it.
type WidgetV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Size    int               `json:"size"`
		Payload string            `json:"payload"`
		Labels  map[string]string `json:"labels,omitempty"`
	} `json:"spec,omitempty"`
}

type WidgetV1beta1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Replicas int               `json:"replicas"`
		Payload  string            `json:"payload"`
		Labels   map[string]string `json:"labels,omitempty"`
	} `json:"spec,omitempty"`
}

func (w *WidgetV1) Hub() {}

func (w *WidgetV1) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

func (w *WidgetV1beta1) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

func (w *WidgetV1beta1) ConvertTo(target hub.Hub) error {
	to := target.(*WidgetV1)
	to.ObjectMeta = w.ObjectMeta
	to.Spec.Size, to.Spec.Payload, to.Spec.Labels = w.Spec.Replicas, w.Spec.Payload, w.Spec.Labels
	return nil
}

func (w *WidgetV1beta1) ConvertFrom(source hub.Hub) error {
	from := source.(*WidgetV1)
	w.ObjectMeta = from.ObjectMeta
	w.Spec.Replicas, w.Spec.Payload, w.Spec.Labels = from.Spec.Size, from.Spec.Payload, from.Spec.Labels
	return nil
}

func addWidgets(scheme *runtime.Scheme) {
	group := "bench.example.com"
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}, &WidgetV1{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: "Widget"}, &WidgetV1beta1{})
}

// Asks one path from so many connections, each with one request at a time, and prints what it saw as JSON.
func load(url, file string, connections int, length time.Duration) error {
	review, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	results := make([][]time.Duration, connections)
	failures := make([]int, connections)
	var first error
	var once sync.Once
	end := time.Now().Add(length)
	began := time.Now()
	for index := range connections {
		group.Add(1)
		go func() {
			defer group.Done()
			// kube-apiserver speaks HTTP/1.1 to webhooks.
			transport := &http.Transport{
				TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}},
				MaxIdleConnsPerHost: 1,
			}
			client := &http.Client{Transport: transport}
			for time.Now().Before(end) {
				asked := time.Now()
				if err := ask(client, url, review); err != nil {
					failures[index]++
					once.Do(func() { first = err })
					continue
				}
				results[index] = append(results[index], time.Since(asked))
			}
		}()
	}
	group.Wait()
	wall := time.Since(began).Seconds()
	var all []time.Duration
	failed := 0
	for index := range connections {
		all = append(all, results[index]...)
		failed += failures[index]
	}
	if len(all) == 0 {
		return fmt.Errorf("no request succeeded: %w", first)
	}
	sort.Slice(all, func(a, b int) bool { return all[a] < all[b] })
	at := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1000 }
	message := ""
	if first != nil {
		message = first.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": len(all), "failed": failed, "error": message, "perSecond": float64(len(all)) / wall, "p50": at(0.5), "p99": at(0.99),
	})
}

func ask(client *http.Client, url string, review []byte) error {
	response, err := client.Post(url, "application/json", bytes.NewReader(review))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d: %.200s", response.StatusCode, answer)
	}
	if !bytes.Contains(answer, []byte(`"allowed":true`)) && !bytes.Contains(answer, []byte(`"status":"Success"`)) {
		return fmt.Errorf("refused: %.200s", answer)
	}
	return nil
}
