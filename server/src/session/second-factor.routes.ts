// The second factor of the own account on HTTP.
import {
  confirmTotp as confirmRoute,
  createRecoveryCodes,
  createTotp,
  deleteTotp,
  getSecondFactor as getRoute,
} from '@pharos/contract/second-factor'
import { handle, type Mounted } from '../http/mount.ts'
import {
  confirmTotp,
  disableTotp,
  getSecondFactor,
  renewRecoveryCodes,
  startTotp,
  type SecondFactorDeps,
} from './second-factor.ts'

export function secondFactorRoutes(deps: SecondFactorDeps): Mounted[] {
  return [
    handle(getRoute, async (operation) => ({ body: await getSecondFactor(deps, operation) })),
    handle(createTotp, async (operation, { body }) => ({
      body: await startTotp(deps, operation, body.current_password),
    })),
    handle(confirmRoute, async (operation, { body }) => ({
      body: await confirmTotp(deps, operation, body.otp),
    })),
    handle(deleteTotp, async (operation, { body }) => {
      await disableTotp(deps, operation, body)
      return {}
    }),
    handle(createRecoveryCodes, async (operation, { body }) => ({
      body: { recovery_codes: await renewRecoveryCodes(deps, operation, body) },
    })),
  ]
}
