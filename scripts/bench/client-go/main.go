// The same work as bench.ts, done by client-go: each line is `name<TAB>rate`.
package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	keys    = 100_000
	events  = 100_000
	objects = 100_000
)

func line(name string, value float64) { fmt.Printf("%s\t%.0f\n", name, value) }

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func queue() {
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("default/object-%d", i)
	}
	best := time.Duration(1 << 62)
	for round := 0; round < 15; round++ {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		began := time.Now()
		for _, name := range names {
			queue.Add(name)
		}
		for range names {
			name, _ := queue.Get()
			queue.Done(name)
		}
		if took := time.Since(began); took < best {
			best = took
		}
		queue.ShutDown()
	}
	line("queue add+get+done per second", keys/best.Seconds())
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	before := heap()
	for _, name := range names {
		queue.Add(name)
	}
	line("queue bytes per key", float64(heap()-before)/keys)
	runtime.KeepAlive(names)
	queue.ShutDown()
}

func pod(i int, version int) *corev1.Pod {
	name := fmt.Sprintf("pod-%d", i)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "default", UID: types.UID(name), ResourceVersion: fmt.Sprint(version),
		Labels: map[string]string{"app": "web"},
	}}
}

type counter struct{ count int }

// Every event goes through the FIFO, into the indexer, to each handler, as sharedIndexInformer.HandleDeltas does it.
func informer(handlers int) {
	made := make([]*corev1.Pod, events)
	for i := range made {
		made[i] = pod(i%1000, i+1)
	}
	best := time.Duration(1 << 62)
	for round := 0; round < 3; round++ {
		indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		fifo := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: indexer})
		counters := make([]counter, handlers)
		began := time.Now()
		for start := 0; start < events; start += 100 {
			for _, object := range made[start : start+100] {
				_ = fifo.Update(object)
			}
			for range 100 {
				_, _ = fifo.Pop(func(popped any, _ bool) error {
					for _, delta := range popped.(cache.Deltas) {
						_ = indexer.Update(delta.Object)
						for i := range counters {
							counters[i].count++
						}
					}
					return nil
				})
			}
		}
		if took := time.Since(began); took < best {
			best = took
		}
	}
	line(fmt.Sprintf("delta FIFO to store to %d handlers, events per second", handlers), events/best.Seconds())
}

func decode() {
	items := make([]map[string]any, objects)
	for i := range items {
		items[i] = map[string]any{
			"metadata": map[string]any{
				"name": fmt.Sprintf("pod-%d", i), "namespace": "default", "uid": fmt.Sprintf("uid-%d", i),
				"resourceVersion": fmt.Sprint(i), "creationTimestamp": "2026-01-01T00:00:00Z",
				"labels": map[string]string{"app": "web", "instance": fmt.Sprint(i % 50)},
				"managedFields": []any{map[string]any{
					"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
					"fieldsV1": map[string]any{"f:status": map[string]any{"f:phase": map[string]any{}, "f:podIP": map[string]any{}}},
				}},
			},
			"spec": map[string]any{"nodeName": fmt.Sprintf("node-%d", i%100), "containers": []any{map[string]any{
				"name": "main", "image": "registry.example.com/team/app:1.2.3",
				"env":       []any{map[string]any{"name": "A", "value": "b"}, map[string]any{"name": "C", "value": "d"}},
				"resources": map[string]any{"limits": map[string]any{"cpu": "500m", "memory": "128Mi"}},
			}}},
			"status": map[string]any{"phase": "Running", "podIP": "10.0.0.1"},
		}
	}
	text, _ := json.Marshal(map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
	items = nil
	before := heap()
	began := time.Now()
	var list corev1.PodList
	if err := json.Unmarshal(text, &list); err != nil {
		panic(err)
	}
	line("list decode, MB per second", float64(len(text))/1e6/time.Since(began).Seconds())
	for i := range list.Items {
		list.Items[i].ManagedFields = nil
	}
	line("bytes per object, whole", float64(heap()-before)/objects)
	runtime.KeepAlive(text)
	runtime.KeepAlive(list)
}

func main() {
	queue()
	informer(1)
	informer(100)
	decode()
}
