// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	anIdentity = "7f000000-0000-4000-8000-000000000001"
	another    = "7f000000-0000-4000-8000-000000000002"
)

func ref() provider.InstanceRef {
	return provider.InstanceRef{Identity: anIdentity, Owner: "cluster-1", Name: "web"}
}

// TestWhoseAVMIs: tags decide, metadata stands in for tags that are gone, and contradictions are nobody's.
func TestWhoseAVMIs(t *testing.T) {
	identity, owner := provider.TagIdentity+anIdentity, provider.TagOwner+"cluster-1"
	ours := map[string]string{provider.MetadataIdentity: anIdentity, provider.MetadataOwner: "cluster-1"}
	for _, c := range []struct {
		name     string
		tags     []string
		metadata map[string]string
		owned    bool
	}{
		{"tags", []string{identity, owner}, nil, true},
		{"tags and metadata, and tags of others", []string{"prod", owner, identity}, ours, true},
		{"metadata alone: the tags are gone", nil, ours, true},
		{"nothing: a row that says DELETED, or somebody else's", nil, nil, false},
		{"identity without owner", []string{identity}, nil, false},
		{"owner without identity", []string{owner}, nil, false},
		{"another identity in the tags, ours in the metadata", []string{provider.TagIdentity + another, owner}, ours, false},
		{"another owner in the tags, ours in the metadata", []string{identity, provider.TagOwner + "cluster-2"}, ours, false},
		{"two owners: a take-over that the metadata decides for us", []string{identity, provider.TagOwner + "cluster-2", owner}, ours, true},
		{"two owners, and the metadata decides for the other", []string{identity, provider.TagOwner + "cluster-2", owner},
			map[string]string{provider.MetadataOwner: "cluster-2"}, false},
		{"two owners, and the metadata names neither", []string{identity, provider.TagOwner + "cluster-2", owner},
			map[string]string{provider.MetadataOwner: "cluster-3"}, false},
		{"an identity that begins like ours", []string{identity + "0", owner}, nil, false},
	} {
		m := marksOfServer(&servers.Server{Tags: &c.tags, Metadata: c.metadata})
		if got := m.owned(ref()); got != c.owned {
			t.Errorf("%s: owned is %v, want %v", c.name, got, c.owned)
		}
	}
	if (marks{}).owned(provider.InstanceRef{}) {
		t.Error("what bears nothing belongs to a server without identity")
	}
}

// TestWhoseAPortIs: the description decides, which is there from the first moment; tags may be missing, and must not contradict.
func TestWhoseAPortIs(t *testing.T) {
	identity, owner := provider.TagIdentity+anIdentity, provider.TagOwner+"cluster-1"
	for _, c := range []struct {
		name        string
		description string
		tags        []string
		claimable   bool
	}{
		{"all", identity, []string{identity, owner}, true},
		{"no tags yet: a crash after the POST", identity, nil, true},
		{"a person's words", "for the web server", []string{identity, owner}, false},
		{"another identity in the tags", identity, []string{provider.TagIdentity + another, owner}, false},
		{"another owner", identity, []string{identity, provider.TagOwner + "cluster-2"}, false},
		{"an identity that begins like ours", identity + "0", nil, false},
	} {
		if got := marksOfNetwork(c.description, c.tags).claimable(ref()); got != c.claimable {
			t.Errorf("%s: claimable is %v, want %v", c.name, got, c.claimable)
		}
	}
}

// TestReferencesThatCannotBeTags are refused before anything is made: it could not be found again.
func TestReferencesThatCannotBeTags(t *testing.T) {
	if err := checkRef(ref()); err != nil {
		t.Error(err)
	}
	for _, owner := range []string{"", "a,b", "a/b", strings.Repeat("x", 46)} {
		r := ref()
		r.Owner = owner
		if provider.ClassOf(checkRef(r)) != provider.Terminal {
			t.Errorf("owner %q is taken", owner)
		}
	}
}
