// The operations of the user's own account on HTTP.
import {
  changeEmailRoute,
  changePasswordRoute,
  confirmEmailRoute,
  deleteSessionRoute,
  listSessionsRoute,
  requestPasswordResetRoute,
  resetPasswordRoute,
  updateUserRoute,
} from '@pharos/contract/account'
import { handle, handleGuest, type Mounted } from '../http/mount.ts'
import { keepRefresh, type RefreshCookies } from '../http/refresh-cookie.ts'
import * as emailChange from './change-email.ts'
import * as passwordChange from './change-password.ts'
import * as confirmation from './confirm-email.ts'
import * as sessions from './own-sessions.ts'
import * as passwordReset from './password-reset.ts'
import * as profile from './profile.ts'
import { userAgentOf } from './visitor.ts'

export type AccountDeps = passwordChange.ChangePasswordDeps &
  passwordReset.PasswordResetDeps &
  emailChange.ChangeEmailDeps &
  confirmation.JoinDeps & { readonly cookies: RefreshCookies }

export function accountRoutes(deps: AccountDeps): Mounted[] {
  return [
    handle(changePasswordRoute, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(deps.cookies, headers, {
        body: await passwordChange.changePassword(deps, caller, body),
      })
    }),
    handle(changeEmailRoute, async (operation, { body }) => {
      await emailChange.changeEmail(deps, operation, body)
      return {}
    }),
    handleGuest(confirmEmailRoute, async (guest, { body }) => ({
      body: await confirmation.confirmEmail(deps, guest, body.token),
    })),
    handleGuest(requestPasswordResetRoute, async (guest, { body }) => {
      passwordReset.requestPasswordReset(deps, guest, body.email)
      return {}
    }),
    handleGuest(resetPasswordRoute, async (guest, { body }) => ({
      body: await passwordReset.resetPassword(deps, guest, body),
    })),
    handle(listSessionsRoute, async (operation, { query }) => {
      const { limit = 100, offset = 0 } = query
      const body = await sessions.listSessions(deps.db, operation, { limit, offset })
      return { body, page: { limit, offset, count: body.count } }
    }),
    handle(deleteSessionRoute, async (operation, { params }) => {
      await sessions.deleteSession(deps.db, operation, params.session_id)
      return {}
    }),
    handle(updateUserRoute, async (operation, { body }) => ({
      body: await profile.updateUser(deps.db, operation, body),
    })),
  ]
}
