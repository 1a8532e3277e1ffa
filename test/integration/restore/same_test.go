// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/backup"
	"github.com/holdfast-dev/holdfast/internal/operator"
)

// Drills in one cluster. An estate goes through several of them, each with an export of its own: what was restored can be restored again.
func TestRestoresInTheSameCluster(t *testing.T) {
	t.Parallel()
	for name, drills := range map[string][]struct {
		name string
		run  func(*estate)
	}{
		"one": {{"the cluster as it is", liveCluster}, {"all without status", withoutStatus}, {"servers before claims", serversFirst}, {"BMCs before servers", bmcsFirst}},
		"two": {{"claims before servers", claimsFirst}, {"secrets missing", secretsMissing}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, name)
			built := k.Took("built")
			e := build(k)
			built()
			for _, drill := range drills {
				took := k.Took(drill.name)
				e.export()
				drill.run(e)
				e.expectUntouched()
				took()
			}
		})
	}
}

// The command reads the cluster as a backup taken now would hold it. What else is in the cluster may hold, which its exit code then tells.
func liveCluster(e *estate) {
	command := e.Command("backup-check", "--output", "json")
	output, err := command.Output()
	if code := command.ProcessState.ExitCode(); err != nil && code != 1 {
		e.T.Fatalf("backup-check: %v", err)
	}
	var report backup.Report
	if err := json.Unmarshal(output, &report); err != nil {
		e.T.Fatalf("backup-check: %v: %s", err, output)
	}
	for _, server := range []string{e.claimed.Name, e.free.Name, e.db.Spec.ServerName, e.gateway.Name} {
		expectVerdict(e.T, report, backup.KindServer, server, backup.Resume, "")
	}
	for _, claim := range []*v1alpha1.ServerClaim{e.web, e.db} {
		expectVerdict(e.T, report, backup.KindClaim, claim.Namespace+"/"+claim.Name, backup.Resume, "")
	}
}

// B001, B002, B003: all is lost and restored in the same cluster, without status and with new UIDs: all goes on, and nothing is asked of a
// machine or of a VM.
func withoutStatus(e *estate) {
	predicted := predict(e.Kit, e.dir, with(fileServers, fileClaims))
	if !predicted.Resumes() {
		e.T.Errorf("predicted: %v, %v", predicted.Summary, predicted.Findings)
	}
	e.lose()
	restore(e.Kit, e.dir, with(fileServers, fileClaims)...)
	e.expectAs(predicted)
	e.expectUntouched()
}

// P10: servers come back before their claims, as Velero restores what is cluster-scoped first. They hold until the claims are there.
func serversFirst(e *estate) {
	half, whole := predict(e.Kit, e.dir, with(fileServers)), predict(e.Kit, e.dir, with(fileServers, fileClaims))
	expectVerdict(e.T, half, backup.KindServer, e.claimed.Name, backup.Hold, v1alpha1.ReasonClaimMissing)
	expectVerdict(e.T, half, backup.KindServer, e.db.Spec.ServerName, backup.Hold, v1alpha1.ReasonClaimMissing)
	e.lose()
	restore(e.Kit, e.dir, with(fileServers)...)
	e.expectAs(half)
	e.expectUntouched()
	restore(e.Kit, e.dir, fileClaims)
	e.expectAs(whole)
	e.expectUntouched()
}

// P10, I8: claims come back before their servers. They wait for the server that they had, and choose no other one.
func claimsFirst(e *estate) {
	half, whole := predict(e.Kit, e.dir, []string{fileClaims}), predict(e.Kit, e.dir, with(fileServers, fileClaims))
	expectVerdict(e.T, half, backup.KindClaim, e.Namespace+"/"+e.web.Name, backup.Hold, v1alpha1.ReasonServerMissing)
	expectVerdict(e.T, half, backup.KindClaim, e.Namespace+"/"+e.db.Name, backup.Hold, v1alpha1.ReasonServerMissing)
	e.lose()
	restore(e.Kit, e.dir, fileClaims)
	e.expectAs(half)
	restore(e.Kit, e.dir, with(fileServers)...)
	e.expectAs(whole)
	e.expectUntouched()
}

// Secrets are often not in a backup. Nothing can be seen without them, so nothing is done; once they are made again all goes on.
func secretsMissing(e *estate) {
	without := []string{fileClouds, fileClasses, fileServers, fileClaims, fileBMCs}
	half, whole := predict(e.Kit, e.dir, without), predict(e.Kit, e.dir, without, func(o *backup.Options) { o.SecretsElsewhere = true })
	expectVerdict(e.T, half, backup.KindBMC, e.claimed.Name, backup.Hold, v1alpha1.ReasonCredentialsMissing)
	expectVerdict(e.T, half, backup.KindCloud, e.cloud.Name, backup.Hold, v1alpha1.ReasonCredentialsMissing)
	if !whole.Resumes() {
		e.T.Errorf("predicted: %v, %v", whole.Summary, whole.Findings)
	}
	e.lose()
	restore(e.Kit, e.dir, without...)
	e.UntilHeld(e.BMCObject(e.claimed.Name), v1alpha1.ReasonCredentialsMissing, e.claimed.Name)
	e.UntilHeld(&v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: e.cloud.Name}}, v1alpha1.ReasonCredentialsMissing, e.cloud.Name)
	for _, name := range []string{e.claimed.Name, e.free.Name, e.gateway.Name} {
		untilAs(e.Kit, outcomeOf(e.T, half, backup.KindServer, name), e.Server(name))
	}
	restore(e.Kit, e.dir, fileSecrets)
	e.expectAs(whole)
	e.expectUntouched()
	e.expectSecrets()
}

// expectSecrets makes sure that what was restored is guarded as what was lost.
func (e *estate) expectSecrets() {
	e.T.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: e.claimed.Name}}
	if err := e.Admin.Get(e.T.Context(), client.ObjectKeyFromObject(secret), secret); err != nil || !slices.Contains(secret.Finalizers, v1alpha1.FinalizerInUse) {
		e.T.Errorf("secret %s: finalizers %v, %v", secret.Name, secret.Finalizers, err)
	}
}

// P10: BMCs come back before their Servers, as tools bring them that go by the alphabet. They wait, and make none anew that the backup
// has.
func bmcsFirst(e *estate) {
	before := []string{fileSecrets, fileClouds, fileClasses, fileBMCs}
	half, whole := predict(e.Kit, e.dir, before), predict(e.Kit, e.dir, with(fileServers, fileClaims))
	for _, machine := range e.machines() {
		expectVerdict(e.T, half, backup.KindBMC, machine.Name, backup.Hold, v1alpha1.ReasonServerMissing)
	}
	e.lose()
	restore(e.Kit, e.dir, before...)
	for _, machine := range e.machines() {
		e.UntilHeld(e.BMCObject(machine.Name), v1alpha1.ReasonServerMissing, machine.Name)
	}
	restore(e.Kit, e.dir, fileClaims, fileServers)
	e.expectAs(whole)
	for _, machine := range e.machines() {
		e.UntilReady(e.BMCObject(machine.Name))
	}
}
