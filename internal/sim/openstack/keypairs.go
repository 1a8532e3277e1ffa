// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/md5" //nolint:gosec // the fingerprint that Nova shows
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// keyPair is a public key of a user.
type keyPair struct {
	Name, User, PublicKey string
	Created               time.Time
}

// fingerprint is the MD5 of the key's blob, as Nova shows it.
func (k *keyPair) fingerprint() string {
	fields := strings.Fields(k.PublicKey)
	var blob []byte
	if len(fields) > 1 {
		blob, _ = base64.StdEncoding.DecodeString(fields[1])
	}
	sum := md5.Sum(blob) //nolint:gosec // the fingerprint that Nova shows
	var parts []string
	for _, b := range sum {
		parts = append(parts, string("0123456789abcdef"[b>>4])+string("0123456789abcdef"[b&15]))
	}
	return strings.Join(parts, ":")
}

func (c *Cloud) keyOf(user, name string) *keyPair { return c.world.Keys[user+"/"+name] }

func (cl *call) showKey(k *keyPair) obj {
	doc := obj{"name": k.Name, "public_key": k.PublicKey, "fingerprint": k.fingerprint()}
	if cl.version >= keyTypes {
		doc["type"] = "ssh"
	}
	return doc
}

func (cl *call) getKeys() *reply {
	rows := []obj{}
	for _, id := range slices.Sorted(maps.Keys(cl.cloud.world.Keys)) {
		if k := cl.cloud.world.Keys[id]; k.User == cl.token.Account.ID {
			rows = append(rows, obj{"keypair": cl.showKey(k)})
		}
	}
	return ok(obj{"keypairs": rows})
}

func (cl *call) createKey() *reply {
	var in struct {
		Keypair struct {
			Name      string
			PublicKey string `json:"public_key"`
		}
	}
	if json.Unmarshal(cl.body, &in) != nil || in.Keypair.Name == "" {
		return cl.schema("keypair", "'name' is a required property")
	}
	if in.Keypair.PublicKey == "" {
		return cl.refuse(http.StatusBadRequest, "The simulator makes no keys: give a public key.")
	}
	c, user := cl.cloud, cl.token.Account.ID
	if c.keyOf(user, in.Keypair.Name) != nil {
		return cl.refuse(http.StatusConflict, "Key pair '%s' already exists.", in.Keypair.Name)
	}
	k := &keyPair{Name: in.Keypair.Name, User: user, PublicKey: in.Keypair.PublicKey, Created: c.now()}
	c.world.Keys[user+"/"+k.Name] = k
	c.markDirty()
	doc := cl.showKey(k)
	doc["user_id"] = user
	status := http.StatusOK
	if cl.version >= keyTypes {
		status = http.StatusCreated
	}
	return newReply(status, obj{"keypair": doc})
}

func onKey(handle func(*call, *keyPair) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		k := cl.cloud.keyOf(cl.token.Account.ID, cl.value("key"))
		if k == nil {
			return cl.refuse(http.StatusNotFound, "Keypair %s not found for user %s", cl.value("key"), cl.token.Account.ID)
		}
		return handle(cl, k)
	}
}

func (cl *call) getKey(k *keyPair) *reply {
	doc := cl.showKey(k)
	for key, value := range (obj{"user_id": k.User, "created_at": micros(k.Created), "deleted": false, "deleted_at": nil, "id": 1, "updated_at": nil}) {
		doc[key] = value
	}
	return ok(obj{"keypair": doc})
}

func (cl *call) deleteKey(k *keyPair) *reply {
	delete(cl.cloud.world.Keys, k.User+"/"+k.Name)
	cl.cloud.markDirty()
	if cl.version >= keyTypes {
		return noContent()
	}
	return accepted()
}
