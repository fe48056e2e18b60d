// Wires the audit log: its operations, the sealer that chains entries (reconciler), and the recorder of refused calls (api).
import { auditOfActor, writeAudit, type RefusedCall } from '../db/audit.ts'
import type { Mounted } from '../http/mount.ts'
import type { Denied } from '../http/server.ts'
import type { Parts, Shared } from '../process/shared.ts'
import { auditRoutes } from './audit.routes.ts'
import { Refusals } from './refusals.ts'
import { createSealer } from './sealer.ts'

export const routes = ({ postgres, front, now }: Shared): Mounted[] =>
  auditRoutes({ postgres, db: front, now })

export const parts = (shared: Shared): Parts => ({ reconciler: () => [createSealer(shared)] })

/** Stopped together with the server that uses it. */
export function createRefusals({ front, log }: Pick<Shared, 'front' | 'log'>): Refusals {
  return new Refusals({ write: (entries) => writeAudit(front, ...entries), log })
}

/** Recorded in the audit log of the credential's team, whatever team the path contains. */
export function refusedCallOf({ actor, operation, params, code, requestId, address }: Denied): RefusedCall {
  const target = params.length === 0 ? operation : `${operation}:${params.join(',')}`
  return { ...auditOfActor(actor), action: 'authorization.refuse', target, code, requestId, address }
}
