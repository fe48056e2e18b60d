// The sign-in policy of a team, as its admins set it. Which sessions it admits is in db/proofs.ts.
import type { BodyOf } from '@pharos/contract/route'
import {
  teamRecoveryCodes,
  type SignInPolicy,
  type SignInStep,
  type TeamSignIn,
  type updateTeamSignInRoute,
} from '@pharos/contract/team/sign-in'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { queueMail } from '../mail/mail.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { fail, notFound } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { createRecoveryCodes, recoveryCodeMac } from '../session/recovery-code.ts'
import { findTeamId } from '../session/operator-token.store.ts'
import { requireUser } from '../session/require-user.ts'
import { findAdmins } from '../team/domain.store.ts'
import { requireStillGranted } from '../team/team-lock.ts'
import { lockTeamRow } from '../team/team-lock.store.ts'
import { enterToManage } from './provider.ts'
import {
  hasRecentSignIn,
  readPolicy,
  replaceTeamCodes,
  savePolicy,
  type SignInPolicyRow,
} from './sign-in-policy.store.ts'

export type SignInPolicyDeps = { readonly db: Db; readonly postgres: Postgres; readonly ring: KeyRing }

export async function getTeamSignIn(
  deps: SignInPolicyDeps,
  operation: Operation,
  team: string,
): Promise<ChangeAnswer<TeamSignIn>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  const isRecent = await isRecentlySignedIn(deps, inTeam)
  return answerWith(await deps.postgres.inTeam(teamId, (trx) => getPolicy(trx, teamId)), isRecent)
}

/** Throws `conflict` if the policy needs a step first. `optional` needs none: the identity provider may be down. */
export async function updateTeamSignIn(
  deps: SignInPolicyDeps,
  operation: Operation,
  team: string,
  { policy }: BodyOf<typeof updateTeamSignInRoute>,
): Promise<ChangeAnswer<TeamSignIn>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  const isRecent = await isRecentlySignedIn(deps, inTeam)
  return runChange(deps.postgres, inTeam, async (trx) => {
    await requireStillGranted(trx, inTeam, 'team.manage')
    const before = await getPolicy(trx, teamId)
    requireMatch(inTeam.ifMatch, answerWith(before, isRecent).etag)
    if (policy === before.policy) return answerWith(before, isRecent)
    const [step] = policy === 'optional' ? [] : missingSteps(before, isRecent)
    if (step !== undefined) throw fail('conflict', conditionOf[step])
    await savePolicy(trx, teamId, policy)
    await writeAudit(trx, { ...auditOf(inTeam), ...policyEntry(teamId, before.policy, policy) })
    return answerWith({ ...before, policy }, isRecent)
  })
}

const conditionOf = {
  provider: 'policyProvider',
  recovery_codes: 'policyCodes',
  recent_sign_in: 'policySignIn',
} as const satisfies Record<SignInStep, string>

const policyEntry = (teamId: number, before: SignInPolicy, after: SignInPolicy) => ({
  action: 'sign_in.policy',
  target: `team:${teamId}`,
  before: { policy: before },
  after: { policy: after },
})

/** Ten new codes in the place of the former ones. */
export async function createTeamRecoveryCodes(
  deps: SignInPolicyDeps,
  operation: Operation,
  team: string,
): Promise<ChangeAnswer<{ recovery_codes: string[] }>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  return runChange(
    deps.postgres,
    inTeam,
    async (trx) => {
      await requireStillGranted(trx, inTeam, 'team.manage')
      const codes = createRecoveryCodes()
      const macs = codes.map((code) => recoveryCodeMac(deps.ring, `team ${teamId}`, code))
      await replaceTeamCodes(trx, teamId, macs)
      const target = `team:${teamId}`
      await writeAudit(trx, { ...auditOf(inTeam), action: 'sign_in.recovery_codes', target })
      return { body: { recovery_codes: codes } }
    },
    { sealedUnder: deps.ring },
  )
}

/** For the operator: the members sign in with their accounts again. Throws `not_found`. */
export function openSignIn(
  db: Db,
  ring: KeyRing,
  slug: string,
): Promise<{ readonly name: string; readonly isChanged: boolean }> {
  return db.transaction().execute(async (trx) => {
    const teamId = await findTeamId(trx, slug)
    if (teamId === undefined || !(await lockTeamRow(trx, teamId))) throw notFound('team')
    const { name, policy } = await getPolicy(trx, teamId)
    if (policy === 'optional') return { name, isChanged: false }
    await savePolicy(trx, teamId, 'optional')
    await writeAudit(trx, { teamId, actor: 'operator', ...policyEntry(teamId, policy, 'optional') })
    const { team, emails } = await findAdmins(trx, teamId)
    const content = { change: 'opened by the operator', team, at: new Date().toISOString() } as const
    for (const to of emails) await queueMail(trx, ring, { to, teamId, template: 'team-sign-in', content })
    return { name, isChanged: true }
  })
}

const isRecentlySignedIn = ({ db }: SignInPolicyDeps, operation: Operation): Promise<boolean> =>
  hasRecentSignIn(db, requireUser(operation).sessionId, operation.actor.teamId)

async function getPolicy(trx: Trx, teamId: number): Promise<SignInPolicyRow> {
  const row = await readPolicy(trx, teamId)
  if (!row) throw notFound('team')
  return row
}

function missingSteps({ provider, codes_left }: SignInPolicyRow, isRecent: boolean): SignInStep[] {
  return [
    ...(provider === null ? (['provider'] as const) : []),
    ...(codes_left < teamRecoveryCodes ? (['recovery_codes'] as const) : []),
    ...(isRecent ? [] : (['recent_sign_in'] as const)),
  ]
}

function answerWith(row: SignInPolicyRow, isRecent: boolean) {
  const body: TeamSignIn = {
    policy: row.policy,
    provider: row.provider,
    recovery_codes_left: row.codes_left,
    recovery_codes_created: row.codes_created?.toISOString() ?? null,
    missing: missingSteps(row, isRecent),
  }
  const { policy, ...beside } = body
  return { body, etag: etagOf({ policy }, beside) }
}
