// The HTTP side of the second factor: one line per operation.
import {
  confirmTotpRoute,
  createRecoveryCodesRoute,
  createTotpRoute,
  deleteTotpRoute,
  getSecondFactorRoute,
} from '@pharos/contract/session/second-factor'
import { handle, type Mounted } from '../http/mount.ts'
import { withTokens, type CookieDeps } from './token-reply.routes.ts'
import {
  confirmTotp,
  disableTotp,
  getSecondFactor,
  renewRecoveryCodes,
  startTotp,
  type SecondFactorDeps,
} from './second-factor.ts'

export type SecondFactorRouteDeps = SecondFactorDeps & CookieDeps

export const secondFactorRoutes = (deps: SecondFactorRouteDeps): Mounted[] => [
  handle(getSecondFactorRoute, getSecondFactor, deps),
  handle(createTotpRoute, startTotp, deps),
  handle(confirmTotpRoute, withTokens(confirmTotp), deps),
  handle(deleteTotpRoute, withTokens(disableTotp), deps),
  handle(createRecoveryCodesRoute, withTokens(renewRecoveryCodes), deps),
]
