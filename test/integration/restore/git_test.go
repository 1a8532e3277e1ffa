// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/backup"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// P10, P13, I3: Git holds what people wrote, and no memory. Applied over machines that run, it makes nothing of them: each holds, and says
// what a person can do. The machine's memory comes from a backup, or goes by consent; the VM is adopted by consent.
func TestManifestsFromGitOverRunningMachines(t *testing.T) {
	t.Parallel()
	e := build(suite.Kit(t, "git"))
	e.export()
	git := filepath.Join(t.TempDir(), "git")
	writeGit(e, git)
	files := []string{fileClouds, fileServers, fileClaims, fileBMCs}
	predicted := predict(e.Kit, git, files, func(o *backup.Options) { o.SecretsElsewhere = true })
	expectVerdict(t, predicted, backup.KindClaim, e.Namespace+"/"+e.web.Name, backup.Begin, "")
	expectVerdict(t, predicted, backup.KindServer, e.gateway.Name, backup.Hold, v1alpha1.ReasonFoundExisting)
	e.lose()
	restore(e.Kit, e.dir, fileSecrets)
	for _, file := range files {
		kubectl(e.Kit, "apply", "-f", filepath.Join(git, file))
	}
	// BMCs make their Servers, which remember nothing: the machine that runs for a claim bears its stamp.
	untilAs(e.Kit, outcomeOf(t, predicted, backup.KindServer, e.claimed.Name, conditionsOf(e.claimed)...), e.Server(e.claimed.Name))
	untilAs(e.Kit, outcomeOf(t, predicted, backup.KindServer, e.gateway.Name, backup.VMLeftOver), e.Server(e.gateway.Name))
	e.UntilCondition(e.web, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonServerNotAvailable)
	e.expectUntouched()

	vm := e.vmNamed(e.gateway.Name)
	kubectl(e.Kit, "annotate", "srv", e.gateway.Name, v1alpha1.AnnotationAdopt+"="+vm)
	if adopted := e.UntilVM(e.gateway.Name, v1alpha1.PhaseRunning); adopted.Annotations[ledger.KeyProviderID] != vm {
		t.Errorf("adopted %s, want %s", adopted.Annotations[ledger.KeyProviderID], vm)
	}
	// The machine: what Git brought goes, what the backup remembers comes.
	e.Destroy(e.BMCObject(e.claimed.Name))
	e.Destroy(e.Server(e.claimed.Name))
	e.Destroy(e.web.DeepCopy())
	kept := func(object, metadata map[string]any) bool {
		name := metadata["name"]
		return name == e.claimed.Name || name == e.web.Name
	}
	for _, file := range []string{fileServers, fileClaims, fileBMCs} {
		change(t, filepath.Join(e.dir, file), kept)
		restore(e.Kit, e.dir, file)
	}
	e.UntilReady(e.web)
	e.ExpectUntouched(e.mark, e.claimed)
	if vms := e.cloud.Servers(); len(vms) != 2 {
		t.Errorf("%d VMs", len(vms))
	}
}

// writeGit writes what Git holds of an estate: neither Servers that Holdfast makes, nor memory. The class stays out: a claim of one that
// remembers nothing gets a VM of its own, as a new claim does.
func writeGit(e *estate, dir string) {
	e.T.Helper()
	copyExport(e.T, e.dir, dir)
	written := map[string]func(name string) bool{
		fileBMCs:    func(string) bool { return true },
		fileClouds:  func(string) bool { return true },
		fileServers: func(name string) bool { return name == e.gateway.Name },
		fileClaims:  func(name string) bool { return name == e.web.Name },
	}
	for file, keep := range written {
		change(e.T, filepath.Join(dir, file), func(object, metadata map[string]any) bool {
			return asInGit(object, metadata) && keep(metadata["name"].(string))
		})
	}
}

// vmNamed is the id of the VM that a cloud has under the name of a Server.
func (e *estate) vmNamed(server string) string {
	e.T.Helper()
	for _, vm := range e.cloud.Servers() {
		if strings.EqualFold(vm.Name, server) {
			return vm.ID
		}
	}
	e.T.Fatalf("no VM %s: %+v", server, e.cloud.Servers())
	return ""
}
