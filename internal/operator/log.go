// SPDX-License-Identifier: Apache-2.0

package operator

import "go.uber.org/zap/zapcore"

// LogLevel turns a verbosity, as in -v, into the logger's level: 0 is what an operator of a fleet wants to read.
func LogLevel(verbosity int) zapcore.Level {
	return zapcore.Level(-max(0, min(verbosity, 9)))
}
