// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/runtime/patch"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/status"
)

// way is one way to report: pass makes what is run again and again.
type way struct {
	name string
	pass func(*subject) (func(context.Context) error, error)
}

var ways = []way{
	{"status (this library)", withSession},
	{"fluxcd/pkg/runtime/patch v0.116.0", withFlux},
	{"by hand: DeepCopy, Semantic.DeepEqual, Status().Update if they differ", withComparison},
	{"by hand: Status().Patch with MergeFrom", withMerge},
	{"by hand: Status().Update", withUpdate},
}

const message = "as it should be, seen by the monitor and compared"

// conditionTypes of a typical object, beside the three of readiness.
var conditionTypes = []string{"ProviderReachable", "Discovered", "DependenciesReady", "Provisioned", "Claimed"}

func withSession(s *subject) (func(context.Context) error, error) {
	server, err := s.read()
	return func(ctx context.Context) error {
		session := status.Begin(s.api, nil, server, status.WithRegions("observed"))
		for _, kind := range conditionTypes {
			session.Set(kind, metav1.ConditionTrue, "AsExpected", message)
		}
		session.Converged("Succeeded", "the server runs")
		_, err := session.Commit(ctx)
		return err
	}, err
}

func withFlux(s *subject) (func(context.Context) error, error) {
	server := &fluxServer{}
	err := s.flux.Get(s.ctx, s.key, server)
	return func(ctx context.Context) error {
		helper, err := patch.NewHelper(server, s.flux)
		if err != nil {
			return err
		}
		report(&server.Status.Conditions, server.Generation)
		return helper.Patch(ctx, server, patch.WithStatusObservedGeneration{})
	}, err
}

func withComparison(s *subject) (func(context.Context) error, error) {
	server, err := s.read()
	return func(ctx context.Context) error {
		before := server.DeepCopy()
		report(&server.Status.Conditions, server.Generation)
		if equality.Semantic.DeepEqual(before.Status, server.Status) {
			return nil
		}
		return s.api.Status().Update(ctx, server)
	}, err
}

func withMerge(s *subject) (func(context.Context) error, error) {
	server, err := s.read()
	return func(ctx context.Context) error {
		before := server.DeepCopy()
		report(&server.Status.Conditions, server.Generation)
		return s.api.Status().Patch(ctx, server, client.MergeFrom(before))
	}, err
}

func withUpdate(s *subject) (func(context.Context) error, error) {
	server, err := s.read()
	return func(ctx context.Context) error {
		report(&server.Status.Conditions, server.Generation)
		return s.api.Status().Update(ctx, server)
	}, err
}

// report sets the conditions as controllers without a library do; all of them have the same to say.
func report(conditions *[]metav1.Condition, generation int64) {
	for _, kind := range append([]string{"Ready"}, conditionTypes...) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: reasonOf(kind), Message: messageOf(kind), ObservedGeneration: generation,
		})
	}
}

func reasonOf(kind string) string {
	if kind == v1alpha1.ConditionReady {
		return "Succeeded"
	}
	return "AsExpected"
}

func messageOf(kind string) string {
	if kind == v1alpha1.ConditionReady {
		return "the server runs"
	}
	return message
}

func (s *subject) read() (*v1alpha1.Server, error) {
	server := &v1alpha1.Server{}
	if err := s.api.Get(s.ctx, s.key, server); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return server, nil
}
