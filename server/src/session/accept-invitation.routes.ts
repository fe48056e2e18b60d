// The HTTP side of invitations, for who holds the link of one.
import { acceptInvitation as acceptRoute, showInvitation as showRoute } from '@pharos/contract/invitation'
import { handleGuest, type Mounted } from '../http/mount.ts'
import { acceptInvitation, showInvitation, type InvitationDeps } from './accept-invitation.ts'

export function invitationRoutes(deps: InvitationDeps): Mounted[] {
  return [
    handleGuest(showRoute, async (guest, { body }) => ({ body: await showInvitation(deps, guest, body) })),
    handleGuest(acceptRoute, async (guest, { body }) => ({
      body: await acceptInvitation(deps, guest, body),
    })),
  ]
}
