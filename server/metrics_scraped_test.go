package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/graphkernel/graphkernel/server"
)

// TestScraped asks for metrics as scrapers do. Every one gets the text format with its length, whatever it would take.
func TestScraped(t *testing.T) {
	s := start(t)
	for _, accept := range []string{
		"", "*/*", "application/json", "text/html",
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
		"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6",
	} {
		a := s.expect(200, question{op: "metrics", header: map[string]string{"Accept": accept, "Accept-Encoding": "gzip, zstd"}})
		if a.header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" || a.header.Get("Content-Encoding") != "" || a.header.Get("Content-Length") == "" || !strings.HasPrefix(string(a.body), "# HELP ") {
			t.Errorf("Accept: %s: got %v and %.80s", accept, a.header, a.body)
		}
	}
	if p := s.refused(400, "invalid_request", question{op: "metrics", query: values("name[]", "go_info")}); !strings.Contains(p.Detail, "name[]") {
		t.Error(p.Detail)
	}
}

// TestScrapedFails has a metric that cannot be had: the answer is a problem, and what failed is in the log alone.
func TestScrapedFails(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(unhad{})
	s := start(t, func(c *server.Config) { c.Registry = registry })
	if p := s.refused(500, "internal", question{op: "metrics"}); strings.Contains(p.Detail, "no disk") || !strings.Contains(s.log.String(), "no disk") {
		t.Errorf("%s\n%s", p.Detail, s.log.String())
	}
}

// An unhad collector has one metric, which cannot be had.
type unhad struct{}

var broken = prometheus.NewDesc("graphkernel_test_broken", "It cannot be had.", nil, nil)

func (unhad) Describe(to chan<- *prometheus.Desc) { to <- broken }
func (unhad) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.NewInvalidMetric(broken, errors.New("no disk"))
}
