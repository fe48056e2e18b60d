// The HTTP side of invitations, for the holder of a link.
import { acceptInvitationRoute, showInvitationRoute } from '@pharos/contract/session/invitation'
import { handleGuest, type Mounted } from '../http/mount.ts'
import { acceptInvitation, showInvitation, type InvitationDeps } from './accept-invitation.ts'

export const invitationRoutes = (deps: InvitationDeps): Mounted[] => [
  handleGuest(showInvitationRoute, showInvitation, deps),
  handleGuest(acceptInvitationRoute, acceptInvitation, deps),
]
