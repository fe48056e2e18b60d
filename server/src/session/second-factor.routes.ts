// The second factor of the own account on HTTP.
import {
  confirmTotpRoute,
  createRecoveryCodesRoute,
  createTotpRoute,
  deleteTotpRoute,
  getSecondFactorRoute,
} from '@pharos/contract/second-factor'
import { handle, type Mounted } from '../http/mount.ts'
import { keepRefresh, type RefreshCookies } from '../http/refresh-cookie.ts'
import {
  confirmTotp,
  disableTotp,
  getSecondFactor,
  renewRecoveryCodes,
  startTotp,
  type SecondFactorDeps,
} from './second-factor.ts'
import { userAgentOf } from './visitor.ts'

export type SecondFactorRouteDeps = SecondFactorDeps & { readonly cookies: RefreshCookies }

export function secondFactorRoutes(deps: SecondFactorRouteDeps): Mounted[] {
  const { cookies } = deps
  return [
    handle(getSecondFactorRoute, async (operation) => ({ body: await getSecondFactor(deps, operation) })),
    handle(createTotpRoute, async (operation, { body }) => ({
      body: await startTotp(deps, operation, body.current_password),
    })),
    handle(confirmTotpRoute, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(cookies, headers, { body: await confirmTotp(deps, caller, body.otp) })
    }),
    handle(deleteTotpRoute, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(cookies, headers, { body: await disableTotp(deps, caller, body) })
    }),
    handle(createRecoveryCodesRoute, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(cookies, headers, { body: await renewRecoveryCodes(deps, caller, body) })
    }),
  ]
}
