// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/config"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// TenantName is the user that tests claim machines as: it has the role holdfast-tenant, and no other right.
const TenantName = "tenant"

// Suite is what the tests of one package share.
type Suite struct {
	// Env is the control plane.
	Env *testenv.Environment
	// Admin is a client of system:masters.
	Admin client.WithWatch
	// Tenant is a client of [TenantName].
	Tenant client.Client
	// Rack is where the simulated machines are.
	Rack *sim.Rack

	dir     string
	audit   *Audit
	built   sync.Once
	program string // the operator's binary, once built

	mu       sync.Mutex
	managers []*Manager
}

// Options say what a suite is started with. The zero value is what most tests want.
type Options struct {
	// Rack is how the rack is built; its zero Timing and Netboot are replaced by [Quick] ones.
	Rack sim.Config
	// Log gets what managers log, at the highest verbosity; nil discards it. The first suite of a process decides for all.
	Log io.Writer
	// Manager, where not nil, has Main start one manager for all tests.
	Manager []Override
}

// Tests is what Main needs of testing.M.
type Tests interface{ Run() int }

// Main starts a suite, gives it to the tests through use, runs them and ends the suite. It returns the exit code for TestMain.
func Main(tests Tests, options Options, use func(*Suite)) int {
	waitTogether()
	suite, err := Start(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	use(suite)
	var manager *Manager
	if options.Manager != nil {
		if manager, err = suite.StartManager(options.Manager...); err != nil {
			fmt.Fprintln(os.Stderr, errors.Join(err, suite.Close()))
			return 1
		}
	}
	code := tests.Run()
	if err := errors.Join(manager.Stop(), suite.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// waitTogether lets more tests run at a time than there are processors, where nobody said otherwise: they spend their time waiting for
// machines.
func waitTogether() {
	const parallel, atOnce = "test.parallel", "12"
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == parallel })
	if !said && flag.Lookup(parallel) != nil {
		_ = flag.Set(parallel, atOnce) // the flag takes any number
	}
}

// Start starts a control plane with all that an installation applies, and a rack. On an error nothing is left running.
func Start(ctx context.Context, options Options) (*Suite, error) {
	logging.Do(func() { logTo(options.Log) })
	dir, err := os.MkdirTemp("", "holdfast-harness-")
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	s := &Suite{dir: dir, audit: &Audit{path: filepath.Join(dir, "audit.log")}}
	if err := s.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("harness: %w", err), s.Close())
	}
	return s, nil
}

// verbosest is beyond what anything in the process logs at.
const verbosest = 9

// logging is settled once for a process: loggers are its own, and what runs in one suite logs while another starts.
var logging sync.Once

func logTo(out io.Writer) {
	if out == nil {
		out = io.Discard
		if path := os.Getenv("HARNESS_LOG"); path != "" {
			if file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				out = file
			}
		}
	}
	logger := zap.New(zap.WriteTo(out), zap.UseDevMode(false), zap.Level(operator.LogLevel(verbosest)))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
}

func (s *Suite) start(ctx context.Context, options Options) error {
	policies, err := config.Policies(config.OperatorUsername)
	if err != nil {
		return err
	}
	s.Env, err = testenv.Start(ctx, testenv.Options{
		Manifests: []fs.FS{config.CRDs(), config.RBAC(), policies}, AuditLog: s.audit.path,
	})
	if err != nil {
		return err
	}
	s.Env.Config.QPS, s.Env.Config.Burst = 1000, 2000
	rack := options.Rack
	if rack.Timing == nil {
		timing := Quick()
		rack.Timing = &timing
	}
	if rack.Netboot == nil {
		rack.Netboot = &sim.Program{Duration: blink, Then: sim.ThenReboot}
	}
	if s.Rack, err = sim.NewRack(rack); err != nil {
		return err
	}
	if s.Admin, err = client.NewWithWatch(s.Env.Config, client.Options{Scheme: operator.Scheme()}); err != nil {
		return err
	}
	return s.admitTenant(ctx)
}

// blink is how long each step of a machine takes: long enough to be seen by a monitor that looks closely, now and then.
const blink = 60 * time.Millisecond

// Quick is a machine that boots in the blink of an eye.
func Quick() sim.Timing {
	return sim.Timing{PowerOn: blink, PowerOff: blink, Shutdown: blink, POST: blink, OSBoot: blink, Pause: blink, BMCBoot: 10 * blink}
}

// As is a client with the rights of another user alone.
func (s *Suite) As(user string, groups ...string) (client.Client, error) {
	groups = append(groups, "system:authenticated")
	c, err := client.New(s.Env.Impersonate(user, groups...), client.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", user, err)
	}
	return c, nil
}

// admitTenant gives the tenant its role, and waits until the API server knows.
func (s *Suite) admitTenant(ctx context.Context) error {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: TenantName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "holdfast-tenant"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: TenantName}},
	}
	if err := s.Admin.Create(ctx, binding); err != nil {
		return err
	}
	var err error
	if s.Tenant, err = s.As(TenantName); err != nil {
		return err
	}
	return poll(ctx, patience, func(ctx context.Context) (bool, error) {
		return s.Tenant.List(ctx, &v1alpha1.ServerClaimList{}) == nil, nil
	})
}

// Close ends rack and control plane.
func (s *Suite) Close() error {
	var failures []error
	if s.Rack != nil {
		failures = append(failures, s.Rack.Close())
	}
	if s.Env != nil {
		failures = append(failures, s.Env.Stop())
	}
	return errors.Join(append(failures, os.RemoveAll(s.dir))...)
}
