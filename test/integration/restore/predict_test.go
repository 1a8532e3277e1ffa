// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/backup"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// clusterID is who the managers of a suite act as.
func clusterID(k *harness.Kit) string {
	k.T.Helper()
	return string(harness.Read(k, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem}}).UID)
}

// predict asks backup-check about files of an export, restored into the cluster of a kit.
func predict(k *harness.Kit, dir string, files []string, changes ...func(*backup.Options)) backup.Report {
	k.T.Helper()
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = filepath.Join(dir, file)
	}
	set, err := backup.Read(paths, nil)
	if err != nil {
		k.T.Fatal(err)
	}
	return check(k, set, changes...)
}

func check(k *harness.Kit, set *backup.Set, changes ...func(*backup.Options)) backup.Report {
	k.T.Helper()
	options := backup.Options{Settings: lifecycle.DefaultSettings(clusterID(k)), Namespace: operator.Defaults().Namespace, Now: time.Now()}
	for _, change := range changes {
		change(&options)
	}
	report, err := backup.Check(k.T.Context(), set, options)
	if err != nil {
		k.T.Fatal(err)
	}
	for _, problem := range report.Problems {
		k.T.Errorf("%s: %s", problem.Origin, problem.Text)
	}
	return report
}

// outcomeOf is what was predicted for an object where its machine is as it is: the first of the conditions that holds and was thought of.
func outcomeOf(t *testing.T, report backup.Report, kind, name string, holding ...backup.Condition) backup.Outcome {
	t.Helper()
	object, there := report.Object(kind, name)
	if !there {
		t.Fatalf("nothing was predicted for %s %s", kind, name)
	}
	if len(object.Outcomes) == 1 {
		return object.Outcomes[0]
	}
	for _, condition := range holding {
		if outcome, tried := object.In(condition); tried {
			return outcome
		}
	}
	t.Fatalf("%s %s: none of %v was tried: %+v", kind, name, holding, object.Outcomes)
	return backup.Outcome{}
}

// conditionsOf tells how a machine is, by its own word. A stamp that the backup does not account for is another's to it.
func conditionsOf(m *harness.Machine) []backup.Condition {
	status := m.Status()
	switch on := m.Power() == "On"; {
	case on && ledger.IsStamp(status.AssetTag):
		return []backup.Condition{backup.OnStamped, backup.OnStampedOther}
	case ledger.IsStamp(status.AssetTag):
		return []backup.Condition{backup.OffStamped}
	case on:
		return []backup.Condition{backup.On}
	}
	return []backup.Condition{backup.Off}
}

// running is how each VM of the drills is; to a Server that remembers nothing it is one of its name.
var running = []backup.Condition{backup.VMRunning, backup.VMLeftOver}

// reported is what an object's status says of where it came to rest.
func reported(object harness.Conditioned) (phase string, held, ready *metav1.Condition) {
	switch o := object.(type) {
	case *v1alpha1.Server:
		phase = string(o.Status.Phase)
	case *v1alpha1.ServerClaim:
		phase = string(o.Status.Phase)
	}
	conditions := *object.StatusConditions()
	return phase, meta.FindStatusCondition(conditions, v1alpha1.ConditionStalled), meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
}

// untilAs waits until an object is where it was predicted to come to rest.
func untilAs(k *harness.Kit, predicted backup.Outcome, object harness.Conditioned) {
	k.T.Helper()
	what := fmt.Sprintf("%T %s as predicted: %s %s in phase %q, %s", object, object.GetName(), predicted.Verdict, predicted.Reason, predicted.Phase, predicted.Clause)
	k.Until(what, func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		phase, held, ready := reported(object)
		if held == nil || ready == nil || ready.ObservedGeneration != object.GetGeneration() {
			return fmt.Errorf("not reported yet: %v", ready)
		}
		told := fmt.Errorf("phase %q, Stalled=%s %s, Ready=%s %s: %s", phase, held.Status, held.Reason, ready.Status, ready.Reason, ready.Message)
		if phase != predicted.Phase {
			return told
		}
		switch predicted.Verdict {
		case backup.Hold:
			if held.Status != metav1.ConditionTrue || held.Reason != predicted.Reason {
				return told
			}
		case backup.Wait, backup.Begin:
			if held.Status == metav1.ConditionTrue || ready.Status == metav1.ConditionTrue || ready.Reason != predicted.Reason {
				return told
			}
		default:
			if ready.Status != metav1.ConditionTrue {
				return told
			}
		}
		return nil
	})
}

// expectAs compares what became of the estate with what was predicted of it: phases, reasons, and what was asked of the machines.
func (e *estate) expectAs(report backup.Report) {
	e.T.Helper()
	for _, machine := range e.machines() {
		if _, there := report.Object(backup.KindServer, machine.Name); !there {
			continue
		}
		predicted := outcomeOf(e.T, report, backup.KindServer, machine.Name, conditionsOf(machine)...)
		untilAs(e.Kit, predicted, e.Server(machine.Name))
		e.Watched(e.Mark(), machine)
		expectEffects(e.T, predicted, e.Since(e.mark, machine))
	}
	for _, name := range []string{e.gateway.Name, e.db.Spec.ServerName} {
		if _, there := report.Object(backup.KindServer, name); there {
			untilAs(e.Kit, outcomeOf(e.T, report, backup.KindServer, name, running...), e.Server(name))
		}
	}
	for claim, holding := range map[*v1alpha1.ServerClaim][]backup.Condition{e.web: conditionsOf(e.claimed), e.db: running} {
		name := claim.Namespace + "/" + claim.Name
		if _, there := report.Object(backup.KindClaim, name); there {
			untilAs(e.Kit, outcomeOf(e.T, report, backup.KindClaim, name, holding...), claim.DeepCopy())
		}
	}
}

// expectEffects compares the effects that were predicted with what reached the machine.
func expectEffects(t *testing.T, predicted backup.Outcome, f harness.Figures) {
	t.Helper()
	count := func(ops ...lifecycle.Op) int {
		n := 0
		for _, op := range predicted.Effects {
			if slices.Contains(ops, op) {
				n++
			}
		}
		return n
	}
	resets, stamps := count(lifecycle.OpPowerOn, lifecycle.OpShutDown, lifecycle.OpForceOff), count(lifecycle.OpWriteAssetTag)
	armings := count(lifecycle.OpSetBootOverride)
	if len(f.Resets) != resets || len(f.Stamps) != stamps || f.Armings() != armings || (armings == 0 && len(f.Installs) > 0) {
		t.Errorf("predicted %v; resets %v, %d stamps, %d armings, %d installs", predicted.Effects, f.Resets, len(f.Stamps), f.Armings(), len(f.Installs))
	}
}

// expectVerdict checks a prediction itself, so that a drill does not agree with itself on nothing.
func expectVerdict(t *testing.T, report backup.Report, kind, name string, want backup.Verdict, reason string) {
	t.Helper()
	object, there := report.Object(kind, name)
	if e := object.Expected(); !there || e.Verdict != want || e.Reason != reason {
		t.Errorf("predicted for %s %s: %s %s, want %s %s", kind, name, e.Verdict, e.Reason, want, reason)
	}
}
