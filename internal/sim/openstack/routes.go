// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"slices"
)

// routes are the paths of all services.
func (c *Cloud) routes() *http.ServeMux {
	mux := http.NewServeMux()
	identityRoutes(mux)
	computeRoutes(mux)
	serverRoutes(mux)
	networkRoutes(mux)
	for _, path := range []string{"/image", "/image/versions"} {
		mux.Handle(path, methods{http.MethodGet: (*call).getImageVersions})
	}
	mux.Handle("/image/v2/images", methods{http.MethodGet: (*call).getImages})
	mux.Handle("/image/v2/images/{image}", methods{http.MethodGet: (*call).getImage})
	return mux
}

// public reports whether the request needs no token: what clients look at before they have one.
func (cl *call) public() bool {
	open := []string{"/identity", "/identity/v3", "/compute", "/compute/v2.1", "/network", "/image", "/image/versions"}
	return slices.Contains(open, cl.r.URL.Path) || cl.r.URL.Path == "/identity/v3/auth/tokens" && cl.r.Method == http.MethodPost
}

func identityRoutes(mux *http.ServeMux) {
	const root = "/identity/v3"
	mux.Handle("/identity", methods{http.MethodGet: (*call).getIdentityVersions})
	mux.Handle(root, methods{http.MethodGet: (*call).getIdentityVersion})
	mux.Handle(root+"/auth/tokens", methods{
		http.MethodPost: (*call).issueToken, http.MethodGet: (*call).getToken, http.MethodDelete: (*call).revokeToken,
	})
	mux.Handle(root+"/auth/catalog", methods{http.MethodGet: (*call).getCatalog})
	mux.Handle(root+"/auth/projects", methods{http.MethodGet: (*call).getOwnProjects})
	mux.Handle(root+"/projects/{project}", methods{http.MethodGet: (*call).getProject})
	credentials := root + "/users/{user}/application_credentials"
	mux.Handle(credentials, methods{http.MethodGet: (*call).getCredentials, http.MethodPost: (*call).createCredential})
	mux.Handle(credentials+"/{credential}", methods{http.MethodGet: (*call).getCredential, http.MethodDelete: (*call).deleteCredential})
}

const computeRoot = "/compute/v2.1"

func computeRoutes(mux *http.ServeMux) {
	mux.Handle("/compute", methods{http.MethodGet: (*call).getComputeVersions})
	mux.Handle(computeRoot, methods{http.MethodGet: (*call).getComputeVersion})
	mux.Handle(computeRoot+"/flavors", methods{http.MethodGet: (*call).getFlavors})
	mux.Handle(computeRoot+"/flavors/detail", methods{http.MethodGet: (*call).getFlavorsDetail})
	mux.Handle(computeRoot+"/flavors/{flavor}", methods{http.MethodGet: onFlavor((*call).getFlavor)})
	mux.Handle(computeRoot+"/flavors/{flavor}/os-extra_specs", methods{http.MethodGet: onFlavor((*call).getExtraSpecs)})
	mux.Handle(computeRoot+"/os-keypairs", methods{http.MethodGet: (*call).getKeys, http.MethodPost: (*call).createKey})
	mux.Handle(computeRoot+"/os-keypairs/{key}", methods{http.MethodGet: onKey((*call).getKey), http.MethodDelete: onKey((*call).deleteKey)})
	mux.Handle(computeRoot+"/os-server-groups", methods{http.MethodGet: (*call).getGroups, http.MethodPost: (*call).createGroup})
	mux.Handle(computeRoot+"/os-server-groups/{group}", methods{
		http.MethodGet: onServerGroup((*call).getGroup), http.MethodDelete: onServerGroup((*call).deleteGroup),
	})
	mux.Handle(computeRoot+"/os-availability-zone", methods{http.MethodGet: (*call).getZones})
	for path, policy := range map[string]string{
		"/os-availability-zone/detail": "os-availability-zone:detail", "/os-hypervisors": "os-hypervisors:list", "/os-services": "os-services:list",
		"/os-quota-sets/{project}": "os-quota-sets:show",
	} {
		mux.Handle(computeRoot+path, methods{http.MethodGet: operatorsOnly(policy)})
	}
	mux.Handle(computeRoot+"/limits", methods{http.MethodGet: (*call).getLimits})
}

func serverRoutes(mux *http.ServeMux) {
	const one = computeRoot + "/servers/{server}"
	mux.Handle(computeRoot+"/servers", methods{http.MethodGet: (*call).getServers, http.MethodPost: (*call).createServer})
	mux.Handle(computeRoot+"/servers/detail", methods{http.MethodGet: (*call).getServersDetail})
	mux.Handle(one, methods{
		http.MethodGet: onServer((*call).getServer), http.MethodPut: onServer((*call).updateServer), http.MethodDelete: onServer((*call).deleteServer),
	})
	mux.Handle(one+"/action", methods{http.MethodPost: onServer((*call).actOn)})
	mux.Handle(one+"/metadata", methods{
		http.MethodGet: onServer((*call).getMetadata), http.MethodPost: onServer((*call).postMetadata), http.MethodPut: onServer((*call).putMetadata),
	})
	mux.Handle(one+"/metadata/{key}", methods{
		http.MethodGet: onServer((*call).getMetadataItem), http.MethodPut: onServer((*call).putMetadataItem), http.MethodDelete: onServer((*call).deleteMetadataItem),
	})
	mux.Handle(one+"/tags", methods{
		http.MethodGet: withTags((*call).getServerTags), http.MethodPut: withTags((*call).putServerTags), http.MethodDelete: withTags((*call).deleteServerTags),
	})
	mux.Handle(one+"/tags/{tag}", methods{
		http.MethodGet: withTags((*call).getServerTag), http.MethodPut: withTags((*call).putServerTag), http.MethodDelete: withTags((*call).deleteServerTag),
	})
	mux.Handle(one+"/os-interface", methods{
		http.MethodGet: onServer((*call).getInterfaces), http.MethodPost: onServer((*call).attachInterface),
	})
	mux.Handle(one+"/os-interface/{port}", methods{
		http.MethodGet: onServer((*call).getInterface), http.MethodDelete: onServer((*call).detachInterface),
	})
	mux.Handle(one+"/os-volume_attachments", methods{
		http.MethodGet: onServer(func(*call, *server) *reply { return ok(obj{"volumeAttachments": []obj{}}) }),
	})
}

func networkRoutes(mux *http.ServeMux) {
	const root = "/network/v2.0"
	mux.Handle("/network", methods{http.MethodGet: (*call).getNetworkVersions})
	mux.Handle(root, methods{http.MethodGet: (*call).getNetworkResources})
	mux.Handle(root+"/extensions", methods{http.MethodGet: (*call).getExtensions})
	mux.Handle(root+"/extensions/{extension}", methods{http.MethodGet: (*call).getExtension})
	mux.Handle(root+"/networks", methods{http.MethodGet: (*call).getNetworks})
	mux.Handle(root+"/networks/{network}", methods{http.MethodGet: (*call).getNetwork})
	mux.Handle(root+"/subnets", methods{http.MethodGet: (*call).getSubnets})
	mux.Handle(root+"/subnets/{subnet}", methods{http.MethodGet: (*call).getSubnet})
	mux.Handle(root+"/routers", methods{http.MethodGet: (*call).getRouters})
	mux.Handle(root+"/routers/{router}", methods{http.MethodGet: (*call).getRouter})
	mux.Handle(root+"/quotas/{project}", methods{http.MethodGet: (*call).getQuota})
	mux.Handle(root+"/ports", methods{http.MethodGet: (*call).getPorts, http.MethodPost: (*call).createPort})
	mux.Handle(root+"/ports/{port}", methods{
		http.MethodGet: onPort((*call).getPort), http.MethodPut: onPort((*call).updatePort), http.MethodDelete: onPort((*call).deletePort),
	})
	mux.Handle(root+"/floatingips", methods{http.MethodGet: (*call).getFloatingIPs, http.MethodPost: (*call).createFloatingIP})
	mux.Handle(root+"/floatingips/{fip}", methods{
		http.MethodGet: onFloatingIP((*call).getFloatingIP), http.MethodPut: onFloatingIP((*call).updateFloatingIP), http.MethodDelete: onFloatingIP((*call).deleteFloatingIP),
	})
	mux.Handle(root+"/security-groups", methods{http.MethodGet: (*call).getSecurityGroups, http.MethodPost: (*call).createSecurityGroup})
	mux.Handle(root+"/security-groups/{group}", methods{
		http.MethodGet: onGroup((*call).getSecurityGroup), http.MethodDelete: onGroup((*call).deleteSecurityGroup),
	})
	mux.Handle(root+"/{kind}/{id}/tags", methods{
		http.MethodGet: onTagged((*call).getTags), http.MethodPut: onTagged((*call).putTags), http.MethodDelete: onTagged((*call).deleteTags),
	})
	mux.Handle(root+"/{kind}/{id}/tags/{tag}", methods{
		http.MethodGet: onTagged((*call).getTag), http.MethodPut: onTagged((*call).putTag), http.MethodDelete: onTagged((*call).deleteTag),
	})
}

// operatorsOnly is what a member of a project may not ask.
func operatorsOnly(policy string) func(*call) *reply {
	return func(cl *call) *reply {
		return cl.refuse(http.StatusForbidden, "Policy doesn't allow os_compute_api:%s to be performed.", policy)
	}
}
