// SPDX-License-Identifier: Apache-2.0

// Package inspect says whether Holdfast can run a BMC and what is behind it, before the BMC is registered anywhere. It looks through
// the provider's Observer, so what it tells is what the operator would see, and it has nothing to act with: it changes nothing.
package inspect
