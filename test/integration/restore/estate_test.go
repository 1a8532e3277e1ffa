// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// estate is what a drill loses and restores: a machine that runs for a claim, a free one, a VM that was made for a claim, and one that
// somebody made by hand.
type estate struct {
	*harness.Kit
	claimed, free *harness.Machine
	web           *v1alpha1.ServerClaim
	cloud         *harness.Cloud
	class         *v1alpha1.ServerClass
	db            *v1alpha1.ServerClaim
	gateway       *v1alpha1.Server

	dir   string // of the last export
	mark  harness.Mark
	wrote map[string]int
}

// The files of an export.
const (
	fileSecrets = "secrets.yaml"
	fileBMCs    = "bmcs.yaml"
	fileClouds  = "clouds.yaml"
	fileClasses = "classes.yaml"
	fileServers = "servers.yaml"
	fileClaims  = "claims.yaml"
)

// with are files of an export together with all that servers and claims need.
func with(files ...string) []string {
	return append(append([]string{fileSecrets, fileClouds, fileClasses}, files...), fileBMCs)
}

// build makes an estate in which all is settled.
func build(k *harness.Kit) *estate {
	k.T.Helper()
	e := &estate{Kit: k, claimed: k.Register(), free: k.Register(), cloud: k.RegisterCloud()}
	e.class = k.Class(e.cloud)
	e.db = k.ClassClaim(e.class)
	e.gateway = k.VM(e.cloud)
	k.UntilPhase(e.claimed.Name, v1alpha1.PhaseAvailable)
	e.web = k.Booted(e.claimed.Name)
	k.UntilPhase(e.free.Name, v1alpha1.PhaseAvailable)
	k.UntilReady(e.db)
	k.UntilVM(e.db.Spec.ServerName, v1alpha1.PhaseReserved)
	k.UntilVM(e.gateway.Name, v1alpha1.PhaseRunning)
	k.Settled(e.cloud)
	return e
}

// export takes the backup, as people do, and remembers what was asked of machines and cloud until then.
func (e *estate) export() {
	e.T.Helper()
	e.dir = e.T.TempDir()
	secrets := operator.Defaults().Namespace
	for file, what := range map[string][]string{
		fileSecrets: {"secret", e.claimed.Name, e.free.Name, e.cloud.Name, "--namespace", secrets},
		fileBMCs:    {"bmc", e.claimed.Name, e.free.Name},
		fileClouds:  {"cloud", e.cloud.Name},
		fileClasses: {"sclass", e.class.Name},
		fileServers: {"srv", e.claimed.Name, e.free.Name, e.db.Spec.ServerName, e.gateway.Name},
		fileClaims:  {"sclaim", "--namespace", e.Namespace},
	} {
		output := kubectl(e.Kit, append([]string{"get", "-o", "yaml"}, what...)...)
		path := filepath.Join(e.dir, file)
		if err := os.WriteFile(path, []byte(output), 0o600); err != nil {
			e.T.Fatal(err)
		}
		change(e.T, path, stripped)
	}
	e.mark, e.wrote = e.Mark(), e.cloud.Wrote()
}

// objects are all of the estate, in the order in which nothing makes anew what is gone.
func (e *estate) objects() []client.Object {
	objects := []client.Object{
		e.BMCObject(e.claimed.Name), e.BMCObject(e.free.Name), e.Server(e.claimed.Name), e.Server(e.free.Name),
		e.Server(e.gateway.Name), e.web, e.db, e.Server(e.db.Spec.ServerName),
		&v1alpha1.ServerClass{ObjectMeta: metav1.ObjectMeta{Name: e.class.Name}}, &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: e.cloud.Name}},
	}
	for _, name := range []string{e.claimed.Name, e.free.Name, e.cloud.Name} {
		objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operator.Defaults().Namespace, Name: name}})
	}
	return objects
}

// lose takes all of the estate away, as a disaster does.
func (e *estate) lose() {
	e.T.Helper()
	for _, object := range e.objects() {
		e.Destroy(object.DeepCopyObject().(client.Object))
	}
}

func (e *estate) machines() []*harness.Machine { return []*harness.Machine{e.claimed, e.free} }

// expectUntouched says that nothing was asked of machines or cloud since the export.
func (e *estate) expectUntouched() {
	e.T.Helper()
	e.ExpectUntouched(e.mark, e.machines()...)
	if wrote := e.cloud.Wrote(); !maps.Equal(wrote, e.wrote) {
		e.T.Errorf("asked of the cloud: %v, before %v", wrote, e.wrote)
	}
	if vms := e.cloud.Servers(); len(vms) != 2 {
		e.T.Errorf("%d VMs: %+v", len(vms), vms)
	}
}
