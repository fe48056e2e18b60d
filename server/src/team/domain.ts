// The domains of a team: list, add with the record to create, change, check on request, remove.
import type { Domain as Wire, listDomainsRoute } from '@pharos/contract/team/domain'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../db/audit.ts'
import { runChange, runPreparedChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Postgres } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { fail, invalid, notFound, failWith } from '../runtime/error.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { saveCheckResult, type DomainCheckDeps } from './domain-check-result.ts'
import { canonicalDomain, objectionTo, type TeamDomainName, type DomainRules } from './domain-name.ts'
import { queryRecord, recordName, recordValues } from './domain-proof.ts'
import {
  countDomains,
  deleteDomain,
  endProofsOfDomain,
  findDomain,
  insertDomain,
  isNeededByPolicy,
  listDomainRows,
  lockDomain,
  saveAutoJoin,
  type TeamDomain,
} from './domain.store.ts'
import { getTeamAccess, operationIn } from './team-access.ts'
import { lockTeamRow } from './team-lock.store.ts'

/** Far more than a company has; each pending domain costs one query a minute. */
const domainsPerTeam = 100

/** Limits checks on request in this process. Keys: team and domain, and team. */
export type VerifyLimits = { readonly perDomain: RateLimiter; readonly perTeam: RateLimiter }

/** One a minute for each domain, and a limit per team. */
export function createVerifyLimits(perMinute: number, now?: () => number): VerifyLimits {
  return {
    perDomain: new RateLimiter({ perSecond: 1 / 60, burst: 1 }, now),
    perTeam: new RateLimiter({ perSecond: perMinute / 60, burst: perMinute }, now),
  }
}

export type DomainDeps = DomainCheckDeps & {
  readonly postgres: Postgres
  readonly rules: DomainRules
  readonly verifications: VerifyLimits
}

type Answered = { readonly body: Wire; readonly etag: string }

/** A page of the team's domains and the exact count, from one snapshot. */
export async function listDomains(
  { postgres, ring }: Pick<DomainDeps, 'postgres' | 'ring'>,
  operation: Operation,
  team: string,
  query: QueryOf<typeof listDomainsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { teamId } = await getTeamAccess(postgres.front, operation, team, 'team.see')
  const { page, count } = await listDomainRows(postgres, teamId, query)
  return { results: page.map((domain) => present(ring, domain)), count }
}

export async function getDomain(
  { postgres, ring }: Pick<DomainDeps, 'postgres' | 'ring'>,
  operation: Operation,
  team: string,
  id: number,
): Promise<Answered> {
  const { teamId } = await getTeamAccess(postgres.front, operation, team, 'team.see')
  return answerOf(ring, known(await postgres.inTeam(teamId, (trx) => findDomain(trx, teamId, id))))
}

export async function addDomain(
  deps: DomainDeps,
  operation: Operation,
  team: string,
  { domain: text, auto_join: autoJoin = false }: { domain: string; auto_join?: boolean },
): Promise<ChangeAnswer<Wire>> {
  const asAdmin = await enterAsAdmin(deps, operation, team)
  const domain = parseOwnable(text, deps.rules)
  const { teamId } = asAdmin.actor
  return runChange(deps.postgres, asAdmin, async (trx) => {
    if ((await countDomains(trx, teamId)) >= domainsPerTeam)
      throw fail('quota_exceeded', 'domains', { limit: domainsPerTeam })
    const added = await insertDomain(trx, { teamId, domain, autoJoin, now: deps.now() })
    if (!added) throw fail('conflict', 'domainExists', { domain })
    await writeAudit(trx, {
      ...auditOf(asAdmin),
      action: 'domain.create',
      target: `domain:${added.id}`,
      after: changeable(added),
    })
    await wake(trx, 'domains')
    return answerOf(deps.ring, added)
  })
}

/** Throws `invalid` for text that is not a domain, or for a domain that no team may add. */
function parseOwnable(text: string, rules: DomainRules): TeamDomainName {
  const loc = ['body', 'domain']
  const domain = canonicalDomain(text)
  if (domain === undefined) throw invalid(loc, 'domain')
  const objection = objectionTo(domain, rules)
  if (objection) throw failWith('invalid', [{ loc, ...objection, ctx: { domain } }])
  return domain
}

export async function updateDomain(
  deps: DomainDeps,
  operation: Operation,
  team: string,
  id: number,
  { auto_join: autoJoin }: { auto_join?: boolean },
): Promise<ChangeAnswer<Wire>> {
  const asAdmin = await enterAsAdmin(deps, operation, team)
  const { teamId } = asAdmin.actor
  return runChange(deps.postgres, asAdmin, async (trx) => {
    const before = known(await lockDomain(trx, teamId, id))
    requireMatch(operation.ifMatch, etagOf(changeable(before)))
    if (autoJoin === undefined || autoJoin === before.autoJoin) return answerOf(deps.ring, before)
    const after = { ...before, autoJoin }
    await saveAutoJoin(trx, before, autoJoin)
    await writeAudit(trx, {
      ...auditOf(asAdmin),
      action: 'domain.update',
      target: `domain:${id}`,
      before: changeable(before),
      after: changeable(after),
    })
    return answerOf(deps.ring, after)
  })
}

/** Checks the record now. Throws `rate_limited`, and `domain_claimed` if it exists and another team has the domain. */
export async function verifyDomain(
  deps: DomainDeps,
  operation: Operation,
  team: string,
  id: number,
): Promise<ChangeAnswer<Wire>> {
  const asAdmin = await enterAsAdmin(deps, operation, team)
  return runPreparedChange(
    deps.postgres,
    asAdmin,
    () => queryDomain(deps, asAdmin, id),
    async (trx, { domain, record }) => {
      const check = { record, onRequest: true }
      const after = known((await saveCheckResult(trx, deps, domain, check, auditOf(asAdmin)))?.domain)
      const isClaimed = after.lastCheckResult === 'claimed'
      const refusal = fail('domain_claimed', 'byOther', { domain: after.domain })
      return { ...answerOf(deps.ring, after), ...(isClaimed && { refusal }) }
    },
  )
}

async function queryDomain(deps: DomainDeps, { actor: { teamId } }: Operation, id: number) {
  const { postgres, verifications } = deps
  const domain = known(await postgres.inTeam(teamId, (trx) => findDomain(trx, teamId, id)))
  // Keyed by the name: removing and adding a domain again does not reset the limit.
  verifications.perDomain.take(`${teamId} ${domain.domain}`)
  verifications.perTeam.take(`${teamId}`)
  return { domain, record: await queryRecord(deps, domain, new AbortController().signal) }
}

export async function removeDomain(
  deps: DomainDeps,
  operation: Operation,
  team: string,
  id: number,
): Promise<ChangeAnswer<null>> {
  const asAdmin = await enterAsAdmin(deps, operation, team)
  const { teamId } = asAdmin.actor
  return runChange(deps.postgres, asAdmin, async (trx) => {
    // As the sign-in policy does, which this depends on.
    await lockTeamRow(trx, teamId)
    const domain = known(await lockDomain(trx, teamId, id))
    requireMatch(operation.ifMatch, etagOf(changeable(domain)))
    if (await isNeededByPolicy(trx, domain)) throw fail('conflict', 'policyNeedsDomain')
    await endProofsOfDomain(trx, domain)
    await deleteDomain(trx, domain)
    await writeAudit(trx, {
      ...auditOf(asAdmin),
      action: 'domain.delete',
      target: `domain:${id}`,
      before: { ...changeable(domain), verified: domain.verified },
    })
    return { body: null }
  })
}

/** Returns the operation in that team, for its admins. */
async function enterAsAdmin(
  { postgres }: Pick<DomainDeps, 'postgres'>,
  operation: Operation,
  team: string,
): Promise<Operation> {
  const access = await getTeamAccess(postgres.front, operation, team, 'team.manage')
  return operationIn(operation, access)
}

function known(domain: TeamDomain | undefined): TeamDomain {
  if (!domain) throw notFound('domain')
  return domain
}

const changeable = ({ domain, autoJoin }: TeamDomain) => ({ domain, auto_join: autoJoin })

function answerOf(ring: KeyRing, domain: TeamDomain): Answered {
  const body = present(ring, domain)
  return { body, etag: etagOf(changeable(domain), body) }
}

function present(ring: KeyRing, domain: TeamDomain): Wire {
  return {
    id: domain.id,
    domain: domain.domain,
    verified: domain.verified?.toISOString() ?? null,
    method: 'dns_txt',
    record_name: recordName(domain.domain),
    record_value: recordValues(ring, domain.teamId, domain.domain)[0],
    last_check: domain.lastCheck?.toISOString() ?? null,
    last_check_result: domain.lastCheckResult,
    auto_join: domain.autoJoin,
    created: domain.created.toISOString(),
  }
}
