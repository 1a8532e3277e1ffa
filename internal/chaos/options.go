// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Options of a campaign.
type Options struct {
	// Seed of everything that is left to chance. An even one makes every second machine one that keeps no stamp: then an old snapshot of
	// the cluster is restored with --after-restore alone, which is what the documents ask for.
	Seed uint64
	// Duration of the faults; what comes before and after is not in it.
	Duration time.Duration
	// Servers are machines and VMs together.
	Servers int
	// Only names the faults there are; none: all.
	Only []string
	// Without names the faults there are not.
	Without []string
	// Settle bounds each of the two waits at the end: until all has come to rest or is held, and until a person has answered all holds.
	Settle time.Duration
	// Binary is the holdfast that runs as manager.
	Binary string
	// Dir keeps logs and records. It is made where it is missing, and stays.
	Dir string
	// Out gets the report; Progress what happens meanwhile, a line each.
	Out, Progress io.Writer
}

func (o Options) validate() error {
	switch {
	case o.Servers < leastServers:
		return fmt.Errorf("a campaign needs %d servers, not %d", leastServers, o.Servers)
	case o.Duration < time.Second || o.Settle < time.Second:
		return fmt.Errorf("a campaign of %s that settles within %s is none", o.Duration, o.Settle)
	case slices.ContainsFunc(o.Only, unknown), slices.ContainsFunc(o.Without, unknown):
		return fmt.Errorf("there is a fault in %q that there is not", slices.Concat(o.Only, o.Without))
	case o.Binary == "" || o.Dir == "":
		return errors.New("a campaign needs the path of holdfast and a folder for its logs")
	}
	return nil
}

// again is the command that makes the same plan.
func (o Options) again() string {
	command := fmt.Sprintf("make chaos SEED=%d DURATION=%s SERVERS=%d", o.Seed, o.Duration, o.Servers)
	if len(o.Only) > 0 {
		command += " FAULTS=" + strings.Join(o.Only, ",")
	}
	if len(o.Without) > 0 {
		command += " WITHOUT=" + strings.Join(o.Without, ",")
	}
	return command
}

// takes says whether a fault is one of the campaign's.
func (o Options) takes(f Fault) bool {
	if f.StampedOnly && !o.stamped() || slices.Contains(o.Without, f.Name) {
		return false
	}
	return len(o.Only) == 0 || slices.Contains(o.Only, f.Name)
}

func unknown(name string) bool {
	_, known := faultNamed(name)
	return !known
}

// leastServers have one of each kind: claimed by name, by selector, and made by a class.
const leastServers = 5

// machines are so many of the servers; the others are VMs.
func (o Options) machines() int { return machinesOf(o.Servers) }

func machinesOf(servers int) int { return servers - servers/5 }

// stamped says that every machine can keep a stamp.
func (o Options) stamped() bool { return o.Seed%2 == 1 }
