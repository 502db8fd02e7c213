// A webhook in Go that answers a constant: what any webhook costs at the least.
//
// `constant-webhook [-http1] PORT CERTIFICATE KEY PATCH` serves /mutate (allowed, with that JSON
// patch) and /validate (allowed) on 127.0.0.1 until standard input ends. Of a review it reads the
// uid alone, which the answer must repeat.
package main

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"flag"
	"io"
	"log"
	"net/http"
	"os"
)

const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"`

var key = []byte(`"uid":"`)

func answering(more string) http.HandlerFunc {
	tail := `","allowed":true` + more + `}}`
	return func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		_, after, found := bytes.Cut(body, key)
		uid, _, closed := bytes.Cut(after, []byte(`"`))
		if err != nil || !found || !closed {
			http.Error(answer, "no review", http.StatusBadRequest)
			return
		}
		answer.Header().Set("Content-Type", "application/json")
		_, _ = answer.Write([]byte(head + string(uid) + tail))
	}
}

func main() {
	http1 := flag.Bool("http1", false, "do not offer HTTP/2")
	flag.Parse()
	port, certificate, private, patch := flag.Arg(0), flag.Arg(1), flag.Arg(2), flag.Arg(3)
	encoded := base64.StdEncoding.EncodeToString([]byte(patch))
	http.HandleFunc("/mutate", answering(`,"patchType":"JSONPatch","patch":"`+encoded+`"`))
	http.HandleFunc("/validate", answering(""))
	// Whoever only looks whether somebody listens is not worth a line.
	server := http.Server{Addr: "127.0.0.1:" + port, ErrorLog: log.New(io.Discard, "", 0)}
	if *http1 {
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	go func() {
		log.Fatal(server.ListenAndServeTLS(certificate, private))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}
