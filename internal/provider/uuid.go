// SPDX-License-Identifier: Apache-2.0

package provider

import "github.com/google/uuid"

// SameUUID says whether two texts name the same machine: without regard to case and notation, and in either byte order of the
// first three fields, since firmware has changed its mind about that on machines in use (B155). False where one of them is no UUID.
func SameUUID(a, b string) bool {
	x, errA := uuid.Parse(a)
	y, errB := uuid.Parse(b)
	if errA != nil || errB != nil {
		return false
	}
	return x == y || x == otherByteOrder(y)
}

func otherByteOrder(u uuid.UUID) uuid.UUID {
	u[0], u[1], u[2], u[3] = u[3], u[2], u[1], u[0]
	u[4], u[5] = u[5], u[4]
	u[6], u[7] = u[7], u[6]
	return u
}
