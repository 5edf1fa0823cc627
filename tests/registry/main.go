// A registry of images, the reference implementation of the distribution specification, in memory; and a check of an image
// by another implementation than ours.
//
//	registry serve           serves on a free port of 127.0.0.1, and prints its address
//	registry validate NAME   pulls an image, and compares every digest, size and difference of its layers
//	registry push FILE NAME  pushes the image of an archive as docker save makes it, and as docker load reads it
//	registry describe NAME   prints the layers of an image as JSON
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/sirupsen/logrus"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		err = serve()
	case len(os.Args) == 3 && os.Args[1] == "validate":
		err = check(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "push":
		err = push(os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == "describe":
		err = describe(os.Args[2])
	default:
		err = fmt.Errorf("usage: registry serve | validate NAME | push FILE NAME | describe NAME")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	config := &configuration.Configuration{Version: "0.1"}
	config.Storage = configuration.Storage{
		"inmemory":    configuration.Parameters{},
		"maintenance": configuration.Parameters{"uploadpurging": map[interface{}]interface{}{"enabled": false}},
	}
	config.HTTP.Secret = "not one"
	logrus.SetLevel(logrus.FatalLevel)
	config.Log.AccessLog.Disabled = true
	config.Catalog.MaxEntries = 100
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, handlers.NewApp(context.Background(), config))
}

func check(text string) error {
	reference, err := name.ParseReference(text)
	if err != nil {
		return err
	}
	found, err := remote.Get(reference)
	if err != nil {
		return err
	}
	if found.MediaType.IsIndex() {
		index, err := found.ImageIndex()
		if err != nil {
			return err
		}
		return validate.Index(index)
	}
	image, err := found.Image()
	if err != nil {
		return err
	}
	return validate.Image(image)
}

// push reads an archive the way docker load did before it knew of layouts: by its manifest.json alone.
func push(file, text string) error {
	reference, err := name.ParseReference(text)
	if err != nil {
		return err
	}
	image, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return err
	}
	return remote.Write(reference, image)
}

type layer struct {
	Digest string `json:"digest"`
	// Bytes as they are pulled, and as they are unpacked.
	Compressed   int64 `json:"compressed"`
	Uncompressed int64 `json:"uncompressed"`
}

func describe(text string) error {
	reference, err := name.ParseReference(text)
	if err != nil {
		return err
	}
	image, err := remote.Image(reference)
	if err != nil {
		return err
	}
	found, err := image.Layers()
	if err != nil {
		return err
	}
	layers := make([]layer, len(found))
	for index, one := range found {
		digest, err := one.Digest()
		if err != nil {
			return err
		}
		if layers[index].Compressed, err = one.Size(); err != nil {
			return err
		}
		content, err := one.Uncompressed()
		if err != nil {
			return err
		}
		layers[index].Digest = digest.String()
		layers[index].Uncompressed, err = io.Copy(io.Discard, content)
		content.Close()
		if err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(layers)
}
