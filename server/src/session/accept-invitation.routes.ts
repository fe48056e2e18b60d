// The HTTP side of invitations, for who holds the link of one.
import { acceptInvitationRoute, showInvitationRoute } from '@pharos/contract/invitation'
import { handleGuest, type Mounted } from '../http/mount.ts'
import { acceptInvitation, showInvitation, type InvitationDeps } from './accept-invitation.ts'

export function invitationRoutes(deps: InvitationDeps): Mounted[] {
  return [
    handleGuest(showInvitationRoute, async (guest, { body }) => ({
      body: await showInvitation(deps, guest, body),
    })),
    handleGuest(acceptInvitationRoute, async (guest, { body }) => ({
      body: await acceptInvitation(deps, guest, body),
    })),
  ]
}
