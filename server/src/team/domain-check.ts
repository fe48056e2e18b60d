// Applies the result of a domain check. DNS is queried outside of any transaction; one transaction then saves the result. Used
// by checks on request and by the loop.
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { queueMail } from '../mail/mail.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { recordName, type DomainProofDeps, type Seen } from './domain-proof.ts'
import { settle, type Settlement } from './domain-verification.ts'
import {
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

export type Checked = { readonly kind: Settlement['kind']; readonly domain: TeamDomain }

type By = Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry>

/** Saves the result, and audits what changes by it; undefined if the domain was deleted in between. */
export async function saveSeen(
  trx: Trx,
  { ring, now }: DomainCheckDeps,
  { id, teamId, domain }: DueDomain,
  look: { readonly seen: Seen; readonly byHand: boolean },
  by: By,
): Promise<Checked | undefined> {
  await lockName(trx, domain)
  const before = await lockDomain(trx, teamId, id)
  if (!before) return undefined
  // A team without the record must not learn whether another team has the domain, not even from the response time.
  const claimed = look.seen === 'valid' && (await isClaimedElsewhere(trx, teamId, domain))
  const { kind, after } = settle(id, before, { ...look, claimed }, now())
  await saveDomainState(trx, before, after)
  if (kind !== 'keep') await auditChange(trx, before, kind, after.verified, by)
  if (kind === 'lose') await tellAdmins(trx, ring, before, look.seen)
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

async function tellAdmins(
  trx: Trx,
  ring: KeyRing,
  { teamId, domain }: TeamDomain,
  seen: Seen,
): Promise<void> {
  const { team, emails } = await findAdmins(trx, teamId)
  const found = seen === 'mismatch' ? 'There is only another text at' : 'There is no TXT record at'
  const reason = `${found} ${recordName(domain)}; it was looked for on three days.`
  for (const to of emails)
    await queueMail(trx, ring, { to, teamId, template: 'domain-lost', content: { team, domain, reason } })
}
