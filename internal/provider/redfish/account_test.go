// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestAccount: the role of the account in use, from the pages that the BMC lets it see; whatever is not told is no error.
func TestAccount(t *testing.T) {
	const accounts, roles = "/redfish/v1/AccountService/Accounts", "/redfish/v1/AccountService/Roles"
	readOnly := Account{Role: "ReadOnly", Privileges: []string{"Login", "ConfigureSelf"}}
	for name, row := range map[string]struct {
		change func(f *fakeBMC)
		want   Account
	}{
		"told":                        {func(*fakeBMC) {}, readOnly},
		"no such service":             {func(f *fakeBMC) { delete(f.docs["/redfish/v1"].(object), "AccountService") }, Account{}},
		"a service that is not there": {func(f *fakeBMC) { delete(f.docs, "/redfish/v1/AccountService") }, Account{}},
		"not for this account": {func(f *fakeBMC) {
			f.answer("GET "+accounts, http.StatusForbidden, redfishError("InsufficientPrivilege", canary))
		}, Account{}},
		"others not for this account": {func(f *fakeBMC) {
			f.answer("GET "+accounts+"/1", http.StatusForbidden, redfishError("InsufficientPrivilege", canary))
		}, readOnly},
		"an account of a directory": {func(f *fakeBMC) { f.set(accounts+"/2", object{"UserName": "somebody"}) }, Account{}},
		"no role told":              {func(f *fakeBMC) { f.set(accounts+"/2", object{"RoleId": nil, "Links": nil}) }, Account{}},
		"the link alone":            {func(f *fakeBMC) { f.set(accounts+"/2", object{"RoleId": nil}) }, readOnly},
		"privileges in a vendor's words": {func(f *fakeBMC) {
			f.set(accounts+"/2", object{"Oem": object{"Hpe": object{"Privileges": object{"VirtualPowerAndResetPriv": true}}}})
		}, Account{Role: "ReadOnly"}},
		"a role's in a vendor's words": {func(f *fakeBMC) { f.set(roles+"/ReadOnly", object{"OemPrivileges": []any{"Power"}}) }, Account{Role: "ReadOnly"}},
		"a role that is not told":      {func(f *fakeBMC) { delete(f.docs, roles+"/ReadOnly") }, Account{Role: "ReadOnly"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.set("/redfish/v1", object{"AccountService": link("/redfish/v1/AccountService")})
			f.docs["/redfish/v1/AccountService"] = object{"Accounts": link(accounts), "Roles": link(roles)}
			f.docs[accounts] = object{"Members": []any{link(accounts + "/1"), link(accounts + "/2")}}
			f.docs[accounts+"/1"] = object{"UserName": "", "RoleId": "Administrator"}
			f.docs[accounts+"/2"] = object{"UserName": "root", "RoleId": "ReadOnly", "Links": object{"Role": link(roles + "/ReadOnly")}}
			f.docs[roles+"/ReadOnly"] = object{"AssignedPrivileges": []any{"Login", "ConfigureSelf"}}
			row.change(f)
			got, err := f.connect().Account(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "account", row.want, got)
		})
	}
	f := newFake(t)
	f.set("/redfish/v1", object{"AccountService": link("/redfish/v1/AccountService")})
	f.handle("GET /redfish/v1/AccountService", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := f.connect().Account(t.Context())
	wantError(t, err, provider.Transient, provider.ReasonUnreachable)
}
