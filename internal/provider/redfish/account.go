// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"strings"
)

// ConfigureComponents is the privilege that switching, booting and marking a machine takes: of Redfish's predefined roles, Administrator and
// Operator have it, and ReadOnly does not (DSP0266, "Roles and privileges").
const ConfigureComponents = "ConfigureComponents"

// Account is the account in use, as the BMC tells it.
type Account struct {
	Role       string
	Privileges []string // that the role assigns; none: not told, or a vendor's own say more
}

// Account reads what the account in use may do. It is zero where the BMC does not tell: it may have no such pages, keep the account in a
// directory, or not let the account look. It asks for one account after the other, and is for people who ask, not for every look. Errors:
// those of an Observer.
func (b *BMC) Account(ctx context.Context) (Account, error) {
	o := observer{b}
	root, err := o.service(ctx)
	if err != nil || root.accounts == "" {
		return Account{}, err
	}
	path, err := o.accounts(ctx, root)
	if err != nil || path == "" {
		return Account{}, err
	}
	list, err := o.members(ctx, o, path, "Accounts", &gaps{})
	if err != nil {
		return Account{}, told(err)
	}
	for _, m := range list {
		doc, err := o.open(ctx, o, m, "Account", &gaps{})
		if hopeless(err) {
			return Account{}, err
		}
		if err == nil && doc.text("UserName") == b.cred.Username {
			return o.role(ctx, m.path, doc)
		}
	}
	return Account{}, nil
}

// accounts is the path of the collection of accounts; "" where none is told.
func (o observer) accounts(ctx context.Context, root *serviceRoot) (string, error) {
	doc, _, err := o.get(ctx, o, root.accounts, "AccountService", &gaps{})
	if err != nil {
		return "", told(err)
	}
	return o.base.resolve(root.accounts, doc.link("Accounts")), nil
}

// role is what an account's role assigns.
func (o observer) role(ctx context.Context, at string, account document) (Account, error) {
	found := Account{Role: account.text("RoleId")}
	link := account.object("Links").link("Role")
	if link == "" {
		return found, nil
	}
	if found.Role == "" {
		found.Role = link[strings.LastIndexByte(link, '/')+1:]
	}
	doc, _, err := o.get(ctx, o, o.base.resolve(at, link), "Role", &gaps{})
	if err != nil {
		return found, told(err)
	}
	if len(doc.texts("OemPrivileges")) == 0 && !ownPrivileges(account) {
		found.Privileges = doc.texts("AssignedPrivileges")
	}
	return found, nil
}

// ownPrivileges says that an account has privileges in a vendor's words, as iLO's for power and virtual media: its role does not tell all then.
func ownPrivileges(account document) bool {
	oem := account.object("Oem")
	for vendor := range oem.members {
		if oem.object(vendor).has("Privileges") {
			return true
		}
	}
	return false
}

// told keeps the errors after which nothing is told any more: a page that is not there, or not for this account, is no error.
func told(err error) error {
	if hopeless(err) {
		return err
	}
	return nil
}
