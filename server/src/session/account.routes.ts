// The HTTP side of the user's own account: one line per operation.
import {
  changeEmailRoute,
  changePasswordRoute,
  confirmEmailRoute,
  deleteSessionRoute,
  listSessionsRoute,
  requestPasswordResetRoute,
  resetPasswordRoute,
  updateUserRoute,
} from '@pharos/contract/session/account'
import { deleteAccountRoute, exportAccountRoute } from '@pharos/contract/session/personal-data'
import type { BodyOf } from '@pharos/contract/route'
import { handle, handleGuest, type Mounted, type Request } from '../http/mount.ts'
import { clearRefreshCookies } from '../http/refresh-cookie.ts'
import type { Operation } from '../operation/operation.ts'
import { exportAccount } from './account-export.ts'
import { deleteOwnAccount, type DeleteAccountDeps } from './delete-account.ts'
import {
  changeEmail,
  changePassword,
  deleteSession,
  listOwnSessions,
  updateUser,
  type ChangeEmailDeps,
  type ChangePasswordDeps,
} from './account.ts'
import { confirmEmail, type JoinDeps } from './confirm-email.ts'
import { requestPasswordReset, resetPassword, type PasswordResetDeps } from './password-reset.ts'
import { withTokens, type CookieDeps } from './token-reply.routes.ts'

export type AccountDeps = ChangePasswordDeps &
  PasswordResetDeps &
  ChangeEmailDeps &
  JoinDeps &
  DeleteAccountDeps &
  CookieDeps

export const accountRoutes = (deps: AccountDeps): Mounted[] => [
  handle(changePasswordRoute, withTokens(changePassword), deps),
  handle(changeEmailRoute, changeEmail, deps),
  handleGuest(confirmEmailRoute, confirmEmail, deps),
  handleGuest(requestPasswordResetRoute, requestPasswordReset, deps),
  handleGuest(resetPasswordRoute, resetPassword, deps),
  handle(listSessionsRoute, listOwnSessions, deps),
  handle(deleteSessionRoute, deleteSession, deps),
  handle(updateUserRoute, updateUser, deps),
  handle(exportAccountRoute, exportAccount, deps),
  handle(deleteAccountRoute, deleteAndSignOut, deps),
]

/** The cookie of the session is of no use afterwards. */
async function deleteAndSignOut(
  deps: AccountDeps,
  operation: Operation,
  body: BodyOf<typeof deleteAccountRoute>,
  { headers }: Request<typeof deleteAccountRoute>,
) {
  const answer = await deleteOwnAccount(deps, operation, body)
  return operation.dryRun ? answer : { ...answer, headers: clearRefreshCookies(deps.cookies, headers) }
}
