// SPDX-License-Identifier: Apache-2.0

package openstack

import "net/http"

// Through has every request that passes the gate go through wrap. For tests, before the first request.
func (c *Cloud) Through(wrap func(http.RoundTripper) http.RoundTripper) {
	c.session.gate.next = wrap(c.session.gate.next)
}
