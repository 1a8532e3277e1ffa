// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"time"
)

// begin starts to build a server: a host is chosen, its ports are bound there, it is spawned.
func (c *Cloud) begin(s *server, at time.Time) {
	s.next = c.after(at, c.timing.Schedule, func(at time.Time) {
		if m := c.mishap(MishapNoValidHost, s); m != nil || c.flavor(s.Flavor).Unhostable {
			s.Unplaced = true
			c.fail(s, at, m.text("No valid host was found. "))
			return
		}
		s.Host, s.Task = "sim-compute-1", taskSpawning
		if problem := c.bindPorts(s, at); problem != "" {
			c.giveUp(s, at, problem)
			return
		}
		c.touch(s, at)
		s.next = c.after(at, c.timing.Spawn, func(at time.Time) { c.spawned(s, at) })
	})
}

// spawned ends the building of a server.
func (c *Cloud) spawned(s *server, at time.Time) {
	if problem := c.spawnProblem(s, MishapSpawn); problem != "" {
		c.giveUp(s, at, problem)
		return
	}
	s.VM, s.Task, s.Power, s.Launched = vmActive, taskNone, powerRunning, at
	c.touch(s, at)
	c.record(EventServerLaunched, s.event())
}

// spawnProblem is why nothing can be made of the server's image on its host.
func (c *Cloud) spawnProblem(s *server, kind MishapKind) string {
	text := fmt.Sprintf("Build of instance %s aborted: the simulated host could not build it", s.ID)
	if m := c.mishap(kind, s); m != nil {
		return m.text(text)
	}
	if i := c.image(s.Image); i != nil && i.Broken {
		return text
	}
	return ""
}

// giveUp is a build that failed on its host: its ports are given back and it has no host any more.
func (c *Cloud) giveUp(s *server, at time.Time, problem string) {
	c.freePorts(s, at)
	s.Host = ""
	c.fail(s, at, problem)
}

// fail puts the server into ERROR.
func (c *Cloud) fail(s *server, at time.Time, message string) {
	s.VM, s.Task = vmError, taskNone
	s.Fault = &serverFault{Code: 500, Message: message, At: at}
	c.touch(s, at)
	e := s.event()
	e.Detail = message
	c.record(EventServerErrored, e)
}

// rebuild writes the image over the server. One that was stopped is stopped again afterwards.
func (c *Cloud) rebuild(s *server, at time.Time) {
	stopped := s.VM == vmStopped
	s.next = c.after(at, c.timing.Rebuild/2, func(at time.Time) {
		s.Task = taskRebuildSpawning
		c.touch(s, at)
		s.next = c.after(at, c.timing.Rebuild-c.timing.Rebuild/2, func(at time.Time) {
			if problem := c.spawnProblem(s, MishapRebuild); problem != "" {
				c.fail(s, at, problem)
				return
			}
			s.VM, s.Task, s.Power, s.Launched, s.Fault = vmActive, taskNone, powerRunning, at, nil
			if stopped {
				s.VM, s.Power = vmStopped, powerShutdown
			}
			c.touch(s, at)
			c.record(EventServerRebuilt, s.event())
		})
	})
}

// settle ends a task: the server is then in that state, with that power.
func (c *Cloud) settle(s *server, at time.Time, after time.Duration, vm string, power int) {
	s.next = c.after(at, after, func(at time.Time) {
		s.VM, s.Task, s.Power = vm, taskNone, power
		c.touch(s, at)
		c.record(EventServerPower, s.event())
	})
}

// remove carries a delete out, after its time.
func (c *Cloud) remove(s *server, at time.Time) {
	c.agenda.Cancel(s.next)
	s.Task = taskDeleting
	c.touch(s, at)
	s.next = c.after(at, c.timing.Delete, func(at time.Time) {
		if m := c.mishap(MishapDelete, s); m != nil {
			c.fail(s, at, m.text("the simulated host could not destroy it"))
			return
		}
		c.gone(s, at)
	})
}

// gone is the end of a server: the ports that Nova made go with it, others are free again. The row stays for
// changes-since, without tags and metadata.
func (c *Cloud) gone(s *server, at time.Time) {
	c.agenda.Cancel(s.next)
	e := s.event()
	c.freePorts(s, at)
	delete(c.world.Servers, s.ID)
	s.VM, s.Task, s.Power, s.Terminated, s.Fault, s.Tags, s.Metadata = vmDeleted, taskNone, powerNoState, at, nil, nil, nil
	c.touch(s, at)
	c.world.Deleted = append(c.world.Deleted, s)
	c.record(EventServerGone, e)
}

// resume takes up what a server was going through when the state was saved.
func (c *Cloud) resume(s *server, at time.Time) {
	switch s.Task {
	case taskScheduling:
		c.begin(s, at)
	case taskSpawning:
		s.next = c.after(at, c.timing.Spawn, func(at time.Time) { c.spawned(s, at) })
	case taskRebuilding, taskRebuildSpawning:
		c.rebuild(s, at)
	case taskPoweringOn, taskRebooting, taskRebootingHard:
		c.settle(s, at, c.timing.PowerOn, vmActive, powerRunning)
	case taskPoweringOff:
		c.settle(s, at, c.timing.PowerOff, vmStopped, powerShutdown)
	case taskDeleting:
		c.remove(s, at)
	}
}
