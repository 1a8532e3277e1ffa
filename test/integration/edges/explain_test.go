// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explain"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Explain shows each edge from both of its ends, and of a deletion that waits for whom.
func TestExplainShowsEdgesBothWays(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "told")
	cloud := k.RegisterCloud()
	keys := authority(t, k)
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) { trusting(keys)(&c.Spec.OpenStack) })
	claim := k.ClassClaim(class)
	k.UntilReady(claim)
	server, holder := claim.Spec.ServerName, k.Namespace+"/"+claim.Name
	object := cloudObject(cloud)
	k.Delete(object)
	waitsFor(k, object, "server "+server, "serverclass "+class.Name)

	explainer := &explain.Explainer{Reader: k.Admin, Settings: lifecycle.DefaultSettings(""), Now: time.Now}
	ctx := t.Context()
	going := explain.Edge{Kind: "Cloud", Name: cloud.Name, Deleting: true, Guarded: true}
	guardedClass := explain.Edge{Kind: "ServerClass", Name: class.Name, Guarded: true}
	guardedKeys := explain.Edge{Kind: "SSHCertificateAuthority", Name: keys.Name, Guarded: true}
	theServer, theClass := explain.Edge{Kind: "Server", Name: server}, explain.Edge{Kind: "ServerClass", Name: class.Name}
	theClaim := explain.Edge{Kind: "ServerClaim", Name: holder}
	for _, row := range []struct {
		of           string
		report       func() (explain.Report, error)
		uses, usedBy []explain.Edge
	}{
		{"server", func() (explain.Report, error) { return explainer.Server(ctx, server) },
			[]explain.Edge{going, guardedClass, guardedKeys}, []explain.Edge{theClaim}},
		{"claim", func() (explain.Report, error) { return explainer.Claim(ctx, client.ObjectKeyFromObject(claim)) },
			[]explain.Edge{guardedClass, theServer}, nil},
		{"cloud", func() (explain.Report, error) { return explainer.Cloud(ctx, cloud.Name) },
			nil, []explain.Edge{theServer, theClass}},
		{"class", func() (explain.Report, error) { return explainer.Class(ctx, class.Name) },
			[]explain.Edge{going, guardedKeys}, []explain.Edge{theServer, theClaim}},
		{"authority", func() (explain.Report, error) { return explainer.Authority(ctx, keys.Name) },
			nil, []explain.Edge{theServer, theClass}},
	} {
		report, err := row.report()
		if err != nil {
			t.Errorf("%s: %v", row.of, err)
			continue
		}
		if diff := cmp.Diff(row.uses, report.Uses); diff != "" {
			t.Errorf("%s uses: -want +got:\n%s", row.of, diff)
		}
		if diff := cmp.Diff(row.usedBy, report.UsedBy); diff != "" {
			t.Errorf("%s is used by: -want +got:\n%s", row.of, diff)
		}
		if content, err := json.Marshal(report); err != nil || !strings.Contains(string(content), class.Name) {
			t.Errorf("%s as JSON: %s, %v", row.of, content, err)
		}
	}
	report, err := explainer.Cloud(ctx, cloud.Name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report.Render(&out)
	for _, want := range []string{"deletion waits for server " + server, "being deleted: takes no new user, waits for 2", "secret " + cloud.Name, "project demo", "ServerClass             " + class.Name + " (there)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if _, err := explainer.Class(ctx, "nobody"); !apierrors.IsNotFound(err) {
		t.Errorf("a class that does not exist: %v", err)
	}
	k.Delete(claim)
	k.UntilGone(claim)
	k.Delete(class)
	k.Delete(keys)
	k.UntilGone(object)
	k.UntilGone(keys)
}
