// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"slices"
	"testing"
)

// What people do with a project, each on the real services: it is done, and the listing tells.
func TestHandsOnTheRealServices(t *testing.T) {
	s := stack(t)
	p := project(t, s, "holdfast-hands")
	ctx := t.Context()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	listed := func() Listing {
		t.Helper()
		listing, err := p.List(ctx)
		do(err)
		return listing
	}
	port, err := p.MakePort(ctx, "by hand")
	do(err)
	image, err := p.ImageID(ctx, ImageA)
	do(err)
	flavor, err := p.flavorID(ctx, Flavor)
	do(err)
	wanted := named{
		"name": "by-hand", "imageRef": image, "flavorRef": flavor, "networks": []named{{"port": port.ID}},
		"tags": []string{"one", "two"}, "metadata": named{"key": "value"}, "user_data": []byte("#!/bin/true"),
	}
	do(p.nova(ctx, "POST", "/servers", named{"server": wanted}, nil))
	server := untilActive(t, p)

	for _, state := range []struct{ asked, seen string }{{"error", "ERROR"}, {"active", "ACTIVE"}} {
		do(p.SetState(ctx, server.ID, state.asked))
		do(listed().HasStatus(server.ID, state.seen))
	}
	ip, err := p.MakeFloatingIP(ctx, "by hand")
	do(err)
	do(p.MoveFloatingIP(ctx, ip.ID, port.ID))
	do(listed().LeadsTo(ip.ID, port.ID))
	do(p.MoveFloatingIP(ctx, ip.ID, ""))
	do(listed().LeadsTo(ip.ID, ""))

	group, err := p.SecurityGroupID(ctx, SecurityGroup)
	do(err)
	do(p.ChangePort(ctx, port.ID, map[string]any{"security_groups": []string{group}}))
	if now := listed().Ports[0]; len(listed().Ports) != 1 || !slices.Equal(now.SecurityGroups, []string{group}) || now.Device != server.ID {
		t.Errorf("the port is %+v", now)
	}

	handed, err := p.UserData(ctx, server.ID)
	do(err)
	if string(handed) != "#!/bin/true" {
		t.Errorf("user data %q", handed)
	}
	second, err := p.MakePort(ctx, "a second leg")
	do(err)
	do(p.PlugPort(ctx, server.ID, second.ID))

	do(p.ChangePassword(ctx, "another-one"))
	copied, err := p.CopyServer(ctx, server.ID)
	do(err)
	found := slices.IndexFunc(listed().Servers, func(s Server) bool { return s.ID == copied })
	if found < 0 {
		t.Fatalf("no copy in\n%s", listed())
	}
	if made := listed().Servers[found]; made.Metadata["key"] != "value" || len(made.Tags) != 2 || made.Name != server.Name {
		t.Errorf("the copy is %+v", made)
	}
	do(p.SetQuota(ctx, QuotaServers, 0))
	if _, err := p.CopyServer(ctx, server.ID); err == nil {
		t.Error("a server beyond the quota")
	}
	do(p.DeleteServer(ctx, copied))
	chronicle, err := p.Chronicle(ctx)
	do(err)
	if creates, deletes := chronicle.Count("create"), chronicle.Count("delete"); creates != 2 || deletes != 1 {
		t.Error(chronicle)
	}
}
