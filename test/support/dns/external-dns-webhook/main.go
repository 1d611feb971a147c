// Serves providers of external-dns over its webhook protocol, for tests: `inmemory`, and `rfc2136` for a name server.
// Prints the address that it listens on.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/provider/inmemory"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	"sigs.k8s.io/external-dns/provider/webhook/api"
)

func main() {
	kind := flag.String("provider", "inmemory", "inmemory or rfc2136")
	zones := flag.String("zones", "", "names of zones, comma separated")
	port := flag.Int("port", 53, "port of the name server on 127.0.0.1")
	keyName := flag.String("key-name", "", "name of the TSIG key")
	keySecret := flag.String("key-secret", "", "TSIG key, base64")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	names := strings.Split(*zones, ",")
	served, err := create(*kind, names, *port, *keyName, *keySecret)
	if err != nil {
		log.Fatal(err)
	}
	webhook := api.WebhookServer{Provider: served}
	routes := http.NewServeMux()
	routes.HandleFunc("/", webhook.NegotiateHandler)
	routes.HandleFunc(api.UrlRecords, webhook.RecordsHandler)
	routes.HandleFunc(api.UrlAdjustEndpoints, webhook.AdjustEndpointsHandler)
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, routes))
}

func create(kind string, zones []string, port int, keyName, keySecret string) (provider.Provider, error) {
	filter := endpoint.NewDomainFilter(zones)
	if kind == "inmemory" {
		return inmemory.NewInMemoryProvider(inmemory.InMemoryWithDomain(filter), inmemory.InMemoryInitZones(zones)), nil
	}
	return rfc2136.NewRfc2136Provider([]string{"127.0.0.1"}, port, zones, false, keyName, keySecret, "hmac-sha256", true,
		filter, false, time.Duration(0), false, false, "", "", "", 50, rfc2136.TLSConfig{}, "", nil)
}
