// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/cloudinit"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Seeds make what a VM is handed when it is made: the user data that its claim or its Server names, with the SSH authorities that the
// Server names. What is read is handed on and kept nowhere.
type Seeds struct {
	API      client.Reader
	UserData UserData
}

// Seed renders the user data of a virtual server. Errors are *provider.Error, but for those of the API server.
func (s Seeds) Seed(ctx context.Context, view lifecycle.ServerView) ([]byte, error) {
	var written []byte
	if ref, named := view.UserDataRef(); named {
		var err error
		if written, err = s.UserData.Content(ctx, ref); err != nil {
			return nil, err
		}
	}
	authorities, err := s.authorities(ctx, view.Server.Spec.OpenStack.SSHCertificateAuthorityRefs)
	if err != nil {
		return nil, err
	}
	rendered, err := cloudinit.Render(written, authorities)
	if err != nil {
		return nil, unrenderable(err)
	}
	return rendered.Data, nil
}

func (s Seeds) authorities(ctx context.Context, refs []v1alpha1.LocalObjectReference) ([]cloudinit.Authority, error) {
	var authorities []cloudinit.Authority
	for _, ref := range refs {
		object := &v1alpha1.SSHCertificateAuthority{}
		if err := s.API.Get(ctx, client.ObjectKey{Name: ref.Name}, object); err != nil {
			if apierrors.IsNotFound(err) {
				return nil, &provider.Error{Class: provider.Transient, Reason: provider.ReasonUserDataInvalid, Message: "the SSHCertificateAuthority " + ref.Name + " went away", Err: err}
			}
			return nil, fmt.Errorf("read the SSH certificate authority %s: %w", ref.Name, err)
		}
		authorities = append(authorities, cloudinit.Authority{
			Name: ref.Name, PublicKeys: object.Spec.PublicKeys, Principals: object.Spec.PrincipalsByLogin(),
		})
	}
	return authorities, nil
}

// unrenderable is what no repetition helps against: the secret or the authority must change.
func unrenderable(err error) error {
	reason := provider.ReasonUserDataInvalid
	var said *cloudinit.Error
	if errors.As(err, &said) && said.Reason == cloudinit.ReasonTooLarge {
		reason = provider.ReasonUserDataTooLarge
	}
	return &provider.Error{Class: provider.Terminal, Reason: reason, Message: err.Error(), Err: err}
}
