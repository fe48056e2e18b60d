// Wires the audit log: the sealer that chains entries (reconciler), and the recorder of refused calls (api).
import { createSealer } from './sealer.ts'
import { Refusals } from './refusals.ts'
import { auditOfActor, writeAudit, type RefusedCall } from '../db/audit.ts'
import type { Denied } from '../http/server.ts'
import type { Component } from '../runtime/component.ts'
import type { Shared } from '../process/shared.ts'

export function auditPart(shared: Shared): Component {
  return createSealer({ ...shared, ring: shared.config.secret })
}

/** Stopped together with the server that uses it. */
export function createRefusals({ postgres, log }: Pick<Shared, 'postgres' | 'log'>): Refusals {
  return new Refusals({ write: (entries) => writeAudit(postgres.front, ...entries), log })
}

/** Recorded in the audit log of the credential's team, whatever team the path contains. */
export function refusalOf({ actor, operation, params, code, requestId, address }: Denied): RefusedCall {
  const target = params.length === 0 ? operation : `${operation}:${params.join(',')}`
  return { ...auditOfActor(actor), action: 'authorization.refuse', target, code, requestId, address }
}
