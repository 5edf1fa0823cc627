// Command gotypes prints what OpenAPI does not say about the built-in kinds: how their Go types decode and encode.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type field struct {
	Name string `json:"name"`
	// As an error of decoding names it, such as *int32.
	Type      string `json:"type"`
	OmitEmpty bool   `json:"omitEmpty,omitempty"`
	OmitZero  bool   `json:"omitZero,omitempty"`
	// The embedded structs that lead to it, which errors of decoding name too.
	Within []string `json:"within,omitempty"`
}

type shape struct {
	Name   string  `json:"name"`
	Fields []field `json:"fields"`
	// It decodes itself.
	Own bool `json:"own,omitempty"`
}

var shapes = map[string]*shape{}

type modelName interface{ OpenAPIModelName() string }

func main() {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	for _, t := range s.AllKnownTypes() {
		visit(t)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(shapes); err != nil {
		panic(err)
	}
}

func visit(t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	named, ok := reflect.New(t).Elem().Interface().(modelName)
	if !ok {
		return
	}
	id := named.OpenAPIModelName()
	if shapes[id] != nil {
		return
	}
	_, own := reflect.New(t).Interface().(json.Unmarshaler)
	made := &shape{Name: t.Name(), Own: own, Fields: []field{}}
	shapes[id] = made
	if !own {
		add(made, t, nil)
	}
}

func add(to *shape, t reflect.Type, within []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			add(to, inner, append(slices.Clone(within), f.Name))
			continue
		}
		if name == "-" || name == "" {
			continue
		}
		to.Fields = append(to.Fields, field{
			Name:      name,
			Type:      f.Type.String(),
			OmitEmpty: strings.Contains(options, "omitempty"),
			OmitZero:  strings.Contains(options, "omitzero"),
			Within:    within,
		})
		visit(f.Type)
	}
}
