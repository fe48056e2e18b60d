// The second factor of the own account on HTTP.
import {
  confirmTotp as confirmRoute,
  createRecoveryCodes,
  createTotp,
  deleteTotp,
  getSecondFactor as getRoute,
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
    handle(getRoute, async (operation) => ({ body: await getSecondFactor(deps, operation) })),
    handle(createTotp, async (operation, { body }) => ({
      body: await startTotp(deps, operation, body.current_password),
    })),
    handle(confirmRoute, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(cookies, headers, { body: await confirmTotp(deps, caller, body.otp) })
    }),
    handle(deleteTotp, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(cookies, headers, { body: await disableTotp(deps, caller, body) })
    }),
    handle(createRecoveryCodes, async (operation, { body, headers }) => {
      const caller = { ...operation, userAgent: userAgentOf(headers) }
      return keepRefresh(cookies, headers, { body: await renewRecoveryCodes(deps, caller, body) })
    }),
  ]
}
