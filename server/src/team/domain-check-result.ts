// Applies the result of a domain check. DNS is queried outside of any transaction; one transaction then saves the result. Used
// by checks on request and by the loop.
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { recordName, type DomainProofDeps, type RecordState } from './domain-proof.ts'
import { transition, type DomainTransition } from './domain-verification.ts'
import {
  endProofsOfDomain,
  findAdmins,
  isClaimedElsewhere,
  lockDomain,
  lockName,
  saveDomainState,
  type DueDomain,
  type TeamDomain,
} from './domain.store.ts'

export type DomainCheckDeps = DomainProofDeps & {
  readonly postgres: Postgres
  readonly now: () => Date
}

export type CheckedDomain = { readonly kind: DomainTransition['kind']; readonly domain: TeamDomain }

type By = Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry>

/** Saves the result, and audits the resulting change; undefined if the domain was deleted in between. */
export async function saveCheckResult(
  trx: Trx,
  { ring, now }: DomainCheckDeps,
  { id, teamId, domain }: DueDomain,
  check: { readonly record: RecordState; readonly onRequest: boolean },
  by: By,
): Promise<CheckedDomain | undefined> {
  await lockName(trx, domain)
  const before = await lockDomain(trx, teamId, id)
  if (!before) return undefined
  // A team without the record must not learn whether another team has the domain, not even from the response time.
  const claimed = check.record === 'valid' && (await isClaimedElsewhere(trx, teamId, domain))
  const { kind, after } = transition(id, before, { ...check, claimed }, now())
  await saveDomainState(trx, before, after)
  if (kind !== 'keep') await auditChange(trx, before, kind, after.verified, by)
  if (kind === 'lose') await endProofsOfDomain(trx, before)
  if (kind === 'lose') await notifyAdmins(trx, ring, before, check.record)
  return { kind, domain: { ...before, ...after } }
}

function auditChange(
  trx: Trx,
  { id, domain, verified }: TeamDomain,
  kind: 'verify' | 'lose',
  after: Date | null,
  by: By,
): Promise<void> {
  return writeAudit(trx, {
    ...by,
    action: `domain.${kind}`,
    target: `domain:${id}`,
    before: { domain, verified },
    after: { domain, verified: after },
  })
}

async function notifyAdmins(
  trx: Trx,
  ring: KeyRing,
  { teamId, domain }: TeamDomain,
  record: RecordState,
): Promise<void> {
  const { team, emails } = await findAdmins(trx, teamId)
  const found = record === 'mismatch' ? 'Only another text was found at' : 'No TXT record was found at'
  const reason = `${found} ${recordName(domain)} in three daily checks.`
  for (const to of emails)
    await queueMail(trx, ring, { to, teamId, template: 'domain-lost', content: { team, domain, reason } })
}
