// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// makeServer makes a Server that was missing.
func (r *Reconciler) makeServer(ctx context.Context, server *v1alpha1.Server) error {
	err := r.Client.Create(ctx, server)
	if apierrors.IsAlreadyExists(err) {
		return nil // the cache is behind, or the name is taken: the next pass tells
	}
	if err != nil {
		return fmt.Errorf("create server %s: %w", server.Name, err)
	}
	log.FromContext(ctx).Info("server made", "server", server.Name)
	return nil
}

// compare sets the hosts behind the BMC against the Servers there are: what is missing, and which hosts somebody else's object
// already is (B157).
func (r *Reconciler) compare(ctx context.Context, bmc *v1alpha1.BMC) (missing []*v1alpha1.Server, taken []string, err error) {
	hosts := hostsOf(bmc)
	for _, host := range hosts {
		exists, by, err := r.serverOf(ctx, bmc, host, len(hosts))
		switch {
		case err != nil:
			return nil, nil, err
		case by != "":
			taken = append(taken, by)
		case !exists:
			missing = append(missing, newServer(bmc, host, len(hosts)))
		}
	}
	return missing, taken, nil
}

// serverOf finds the Server that is host: by UUID or Redfish Id among the BMC's own, by name, and by UUID behind other BMCs.
func (r *Reconciler) serverOf(ctx context.Context, bmc *v1alpha1.BMC, host v1alpha1.ObservedSystem, hosts int) (exists bool, takenBy string, err error) {
	var own v1alpha1.ServerList
	if err := r.Client.List(ctx, &own, client.MatchingFields{index.ServerBMC: bmc.Name}); err != nil {
		return false, "", fmt.Errorf("list the servers of BMC %s: %w", bmc.Name, err)
	}
	for i := range own.Items {
		if isSystem(own.Items[i].Spec.Redfish, host, hosts) {
			return true, "", nil
		}
	}
	if host.UUID != "" {
		var same v1alpha1.ServerList
		if err := r.Client.List(ctx, &same, client.MatchingFields{index.ServerSystemUUID: strings.ToLower(host.UUID)}); err != nil {
			return false, "", fmt.Errorf("list the servers of system %s: %w", host.UUID, err)
		}
		if len(same.Items) > 0 {
			return false, fmt.Sprintf("system %s is server %s already", host.ID, same.Items[0].Name), nil
		}
	}
	name := serverName(bmc, host, hosts)
	var named v1alpha1.Server
	err = r.Client.Get(ctx, client.ObjectKey{Name: name}, &named)
	if apierrors.IsNotFound(err) {
		return false, "", nil
	}
	if err != nil {
		return false, "", fmt.Errorf("read server %s: %w", name, err)
	}
	return false, fmt.Sprintf("the name %s of system %s is taken by another server", name, host.ID), nil
}

func isSystem(redfish *v1alpha1.RedfishSystem, host v1alpha1.ObservedSystem, hosts int) bool {
	switch {
	case redfish.SystemUUID != "":
		return strings.EqualFold(redfish.SystemUUID, host.UUID)
	case redfish.SystemID != "":
		return redfish.SystemID == host.ID
	default:
		return hosts == 1
	}
}

// hostsOf are the systems that can be reset: what has no reset action is a GPU tray or a chassis controller, and no host.
func hostsOf(bmc *v1alpha1.BMC) []v1alpha1.ObservedSystem {
	if bmc.Status.Observed == nil {
		return nil
	}
	var hosts []v1alpha1.ObservedSystem
	for _, system := range bmc.Status.Observed.Systems {
		if system.CanReset {
			hosts = append(hosts, system)
		}
	}
	return hosts
}

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// serverName is the same for the same host for ever: a Server made anew bears the old name.
func serverName(bmc *v1alpha1.BMC, host v1alpha1.ObservedSystem, hosts int) string {
	if hosts == 1 {
		return bmc.Name
	}
	id := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(host.ID), "-"), "-")
	return bmc.Name + "-" + id
}

func newServer(bmc *v1alpha1.BMC, host v1alpha1.ObservedSystem, hosts int) *v1alpha1.Server {
	redfish := &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: bmc.Name}, SystemUUID: strings.ToLower(host.UUID)}
	if redfish.SystemUUID == "" {
		redfish.SystemID = host.ID
	}
	server := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: serverName(bmc, host, hosts), Labels: map[string]string{}},
		Spec:       v1alpha1.ServerSpec{Redfish: redfish},
	}
	if template := bmc.Spec.ServerTemplate; template != nil {
		for key, value := range template.Labels {
			server.Labels[key] = value
		}
		server.Spec.Taints = template.Taints
		server.Spec.FoundRunning = template.FoundRunning
		server.Spec.ReclaimPolicy = template.ReclaimPolicy
	}
	server.Labels[v1alpha1.LabelBMC] = bmc.Name
	return server
}
