// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/wire"
)

// Rack is a set of simulated BMCs served by one process.
type Rack struct {
	config  Config
	timing  Timing
	netboot Program
	ca      *wire.Authority
	server  *http.Server
	mux     *http.ServeMux
	control *controlServer
	shared  map[scheme]net.Listener // nil with OwnListeners
	saver   *saver
	serving sync.WaitGroup
	closing chan struct{}

	agenda    *clock.Agenda // its lock guards all below, and every BMC and Machine
	closed    bool
	bmcs      map[string]*BMC
	byAddress map[netip.Addr]*BMC
	nextHost  uint16
	events    []Event
	requests  requestLog
	random    *rand.Rand
}

type scheme string

const (
	schemeHTTPS scheme = "https"
	schemeHTTP  scheme = "http"
)

// NewRack starts an empty rack. Close it when done.
func NewRack(config Config) (*Rack, error) {
	if config.HTTPS == "" && config.HTTP == "" {
		config.HTTPS = "0.0.0.0:0"
	}
	if config.StateDir != "" {
		if err := os.MkdirAll(config.StateDir, 0o750); err != nil {
			return nil, fmt.Errorf("redfish rack: state: %w", err)
		}
	}
	if config.Clock == nil {
		config.Clock = clock.Wall()
	}
	ca, err := wire.OpenAuthority(config.StateDir, "Simulated rack CA")
	if err != nil {
		return nil, fmt.Errorf("redfish rack: %w", err)
	}
	r := &Rack{
		config: config, timing: DefaultTiming(), netboot: DefaultProgram(), ca: ca,
		closing: make(chan struct{}), bmcs: map[string]*BMC{}, byAddress: map[netip.Addr]*BMC{},
		random: rand.New(rand.NewPCG(config.Seed, config.Seed)), //nolint:gosec // faults must repeat, not surprise
	}
	r.agenda = clock.NewAgenda(config.Clock)
	if config.Timing != nil {
		r.timing = *config.Timing
	}
	if config.Netboot != nil {
		r.netboot = *config.Netboot
	}
	r.requests.limit = config.RequestLog
	if r.requests.limit == 0 {
		r.requests.limit = 50_000
	}
	r.mux = r.routes()
	r.saver = &saver{rack: r, dir: config.StateDir, dirty: map[*BMC]struct{}{}}
	if err := r.listen(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// AddBMC puts a BMC and its machines into the rack and starts to answer for it.
func (r *Rack) AddBMC(spec BMCSpec) (*BMC, error) {
	defer r.enter()()
	if r.closed {
		return nil, errors.New("redfish rack: closed")
	}
	if spec.Name == "" {
		return nil, errors.New("redfish rack: a BMC needs a name")
	}
	if r.bmcs[spec.Name] != nil {
		return nil, fmt.Errorf("redfish rack: BMC %q: the name is taken", spec.Name)
	}
	address, err := r.claimAddress(spec.Address)
	if err != nil {
		return nil, fmt.Errorf("redfish rack: BMC %q: %w", spec.Name, err)
	}
	b, err := newBMC(r, spec, address)
	if err != nil {
		return nil, err
	}
	if err := r.saver.load(b); err != nil {
		return nil, err
	}
	if err := b.openListeners(); err != nil {
		return nil, fmt.Errorf("redfish rack: BMC %q: %w", spec.Name, err)
	}
	r.bmcs[spec.Name] = b
	if !r.config.OwnListeners {
		r.byAddress[address] = b
	}
	return b, nil
}

// claimAddress checks a wanted address or picks the next free one. Addresses of BMCs with listeners of
// their own may repeat: their ports differ.
func (r *Rack) claimAddress(wanted string) (netip.Addr, error) {
	if wanted != "" {
		address, err := netip.ParseAddr(wanted)
		if err != nil {
			return address, err
		}
		if !address.Is4() || !address.IsLoopback() {
			return address, fmt.Errorf("%s is not an IPv4 loopback address", address)
		}
		if r.byAddress[address] != nil {
			return address, fmt.Errorf("address %s is taken by %q", address, r.byAddress[address].spec.Name)
		}
		return address, nil
	}
	for r.nextHost < 0xFFFE {
		r.nextHost++
		address := netip.AddrFrom4([4]byte{127, 1, byte(r.nextHost >> 8), byte(r.nextHost)})
		if r.byAddress[address] == nil {
			return address, nil
		}
	}
	return netip.Addr{}, errors.New("no free address left in 127.1.0.0/16")
}

// BMC returns the BMC of that name, nil where there is none.
func (r *Rack) BMC(name string) *BMC {
	defer r.enter()()
	return r.bmcs[name]
}

// BMCs returns all BMCs by name.
func (r *Rack) BMCs() []*BMC {
	defer r.enter()()
	return r.sortedBMCs()
}

func (r *Rack) sortedBMCs() []*BMC {
	var all []*BMC
	for _, name := range slices.Sorted(maps.Keys(r.bmcs)) {
		all = append(all, r.bmcs[name])
	}
	return all
}

// Close stops serving, cuts all connections and saves the state of the machines where it is kept.
func (r *Rack) Close() error {
	if !r.agenda.Close() {
		return nil
	}
	leave := r.enter()
	r.closed = true
	close(r.closing)
	var cut []*simConn
	for _, b := range r.bmcs {
		cut = append(cut, b.takeConns()...)
	}
	leave()

	var errs []error
	for _, c := range cut {
		c.reset()
	}
	if r.server != nil { // it closes the listeners; one of a BMC that is down may be closed already
		if err := r.server.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, r.control.close())
	r.serving.Wait()
	errs = append(errs, r.saver.close())
	return errors.Join(errs...)
}
