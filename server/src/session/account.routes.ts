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
import { handle, handleGuest, type Mounted } from '../http/mount.ts'
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

export type AccountDeps = ChangePasswordDeps & PasswordResetDeps & ChangeEmailDeps & JoinDeps & CookieDeps

export const accountRoutes = (deps: AccountDeps): Mounted[] => [
  handle(changePasswordRoute, withTokens(changePassword), deps),
  handle(changeEmailRoute, changeEmail, deps),
  handleGuest(confirmEmailRoute, confirmEmail, deps),
  handleGuest(requestPasswordResetRoute, requestPasswordReset, deps),
  handleGuest(resetPasswordRoute, resetPassword, deps),
  handle(listSessionsRoute, listOwnSessions, deps),
  handle(deleteSessionRoute, deleteSession, deps),
  handle(updateUserRoute, updateUser, deps),
]
