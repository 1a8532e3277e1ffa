// SPDX-License-Identifier: Apache-2.0

//go:build race

package racing

// Detected says that the race detector is on.
const Detected = true
