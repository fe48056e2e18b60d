// The HTTP side of ASNs: one line per operation.
import {
  getAsnRoute,
  listAsnsRoute,
  listAsnsOfTeamsRoute,
  revokeAsnOfTeamRoute,
  verifyAsnRoute,
  verifyAsnOfTeamRoute,
} from '@pharos/contract/inventory/asn'
import { handle, handleStaff, type Mounted } from '../http/mount.ts'
import { getAsn, listAsns } from './holding/asn.ts'
import { listAllAsns, revokeForTeam, verifyForTeam, type AsnDecisionDeps } from './holding/asn-decision.ts'
import { verifyAsn, type VerifyAsnDeps } from './holding/asn-proof.ts'

export const asnRoutes = (deps: VerifyAsnDeps & AsnDecisionDeps): Mounted[] => [
  handle(listAsnsRoute, listAsns, deps),
  handle(getAsnRoute, getAsn, deps),
  handle(verifyAsnRoute, verifyAsn, deps),
  handleStaff(listAsnsOfTeamsRoute, listAllAsns, deps),
  handleStaff(verifyAsnOfTeamRoute, verifyForTeam, deps),
  handleStaff(revokeAsnOfTeamRoute, revokeForTeam, deps),
]
