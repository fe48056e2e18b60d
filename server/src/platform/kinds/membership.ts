// Memberships: users in teams, nested in the users of the file. No plan leaves a team without an admin unless `enforce` is set.
import { orderedRoles, type Role } from '@pharos/contract/role'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Trx } from '../../db/postgres.ts'
import { demoteHoldings, revokeHoldings } from '../../team/holdings.ts'
import { defineKind, rowsByKey } from '../engine/define-kind.ts'
import { mapped, referenceById } from '../engine/field.ts'
import type { PlatformChange, Current, Element, PlanDraft } from '../engine/kind.ts'
import { insertRows, updateRow } from '../engine/table.store.ts'
import { teamKind } from './team.ts'
import { userKind, type UserElement } from './user.ts'

const memberRoles: readonly string[] = ['editor']

export const membershipKind = defineKind({
  name: 'membership',
  plural: 'memberships',
  section: userKind.section,
  element: null,
  table: { name: 'memberships', id: 'id' },
  identity: ['team', 'user'],
  fields: {
    team: referenceById('memberships', 'team_id', teamKind),
    user: referenceById('memberships', 'user_id', userKind),
    roles: mapped('memberships', ['is_admin', 'roles', 'managed_by'], {
      // Null before migration 102.
      read: ({ is_admin, roles }): readonly string[] => roles ?? (is_admin ? ['admin'] : memberRoles),
      write: (roles) => ({
        is_admin: roles.includes('admin'),
        roles,
        roles_source: 'manual',
        managed_by: 'operator',
      }),
      // The rights of a member without the role admin before there were other roles: files from then mean the same.
      initial: memberRoles,
      isShown: true,
    }),
  },
  stateOf: ({ managed_by }) =>
    managed_by === 'operator' ? {} : { isPrunable: false, setByOwner: ['roles'] },
  async readRemoved(db) {
    const { rows } = await sql<{ key: string }>`
      select t.slug || ' ' || lower(u.email) as key
      from former_members f join teams t on t.id = f.team_id join users u on u.id = f.user_id
      where f.ended_by <> 'operator'
        and not exists (select from memberships m where m.team_id = f.team_id and m.user_id = f.user_id)`.execute(
      db,
    )
    return rows.map(({ key }) => key)
  },
  outsideOfPortal: 'members are invited',
  check(context, elements: readonly Element<Static<typeof UserElement>>[]): void {
    for (const { path, element } of elements) {
      const key = userKind.keyOf({ email: element.email } as Parameters<typeof userKind.keyOf>[0])
      for (const [at, { admin, roles: given, ...one }] of (element.teams ?? []).entries()) {
        const itsPath = [...path, 'teams', at]
        if (admin !== undefined && given !== undefined)
          context.problem([...itsPath, 'admin'], 'name either roles or admin')
        const roles = given ? orderedRoles(given) : admin ? ['admin'] : undefined
        context.add(membershipKind, itsPath, { ...one, roles, user: key })
      }
    }
  },
  adjust: keepAdmins,
  async create(trx, created, now): Promise<void> {
    const rows = await insertRows(trx, membershipKind, created, now, { returning: ['id'] })
    await sql`
      delete from former_members f using memberships m
      where (f.team_id, f.user_id) = (m.team_id, m.user_id) and m.id = any(${rows.map((row) => row['id'])})`.execute(
      trx,
    )
  },
  async update(trx, change, now): Promise<void> {
    await updateRow(trx, membershipKind, change, now)
    if (!change.fields.roles) return
    const { teamId, userId } = await getIds(trx, change.row.id)
    await demoteHoldings(
      trx,
      teamId,
      userId,
      change.row.fields.roles as Role[],
      change.fields.roles as Role[],
    )
  },
  async delete(trx, { id }): Promise<void> {
    const { teamId, userId } = await getIds(trx, id)
    await revokeHoldings(trx, teamId, userId)
    await sql`
      with ended as (delete from memberships where id = ${id} returning team_id, user_id)
      insert into former_members (team_id, user_id, ended_by) select team_id, user_id, 'operator' from ended
      on conflict (team_id, user_id) do update set ended_by = 'operator', removed = now()`.execute(trx)
  },
})

async function getIds(trx: Trx, id: number | string): Promise<{ teamId: number; userId: number }> {
  const { rows } = await sql<{ teamId: number; userId: number }>`
    select team_id as "teamId", user_id as "userId" from memberships where id = ${id}`.execute(trx)
  return rows[0]!
}

/** Removes the changes that would leave a team without an admin; with `enforce` a notice has to do. */
function keepAdmins({ changes, current, options, notice }: PlanDraft): readonly PlatformChange[] {
  const teams = teamsLeftWithoutAdmin(changes, current)
  for (const name of teams) {
    notice(
      options.enforce
        ? `team ${name}: no admin is left`
        : `team ${name}: no admin would be left; its admins are kept (--enforce removes them)`,
    )
  }
  if (options.enforce) return changes
  const kept = adminsOf(current).filter((admin) => teams.has(admin.team))
  const users = new Set(kept.map((admin) => admin.user))
  const memberships = new Set(kept.map((admin) => `${admin.team} ${admin.user}`))
  return changes.filter((change) => !deletesUser(change, users) && !endsAdmin(change, memberships))
}

function adminsOf(current: Current): { readonly team: string; readonly user: string }[] {
  return [...rowsByKey(current, membershipKind).values()]
    .filter(({ fields }) => fields.roles.includes('admin'))
    .map(({ fields }) => fields)
}

function teamsLeftWithoutAdmin(changes: readonly PlatformChange[], current: Current): ReadonlySet<string> {
  const admins = adminsOf(current)
  const users = new Set(
    keysOf(changes, (change) => change.kind === userKind.name && change.action === 'delete'),
  )
  const ended = new Set(keysOf(changes, (change) => endsAdmin(change)))
  const deleted = keysOf(changes, (change) => change.kind === teamKind.name && change.action === 'delete')
  const remaining = admins.filter(
    (admin) => !users.has(admin.user) && !ended.has(`${admin.team} ${admin.user}`),
  )
  const appointed = keysOf(changes, makesAdmin).map((key) => key.split(' ', 1)[0]!)
  const without = new Set(admins.map((admin) => admin.team).toSorted())
  for (const name of [...remaining.map((admin) => admin.team), ...appointed, ...deleted]) without.delete(name)
  return without
}

function keysOf(changes: readonly PlatformChange[], matches: (change: PlatformChange) => boolean): string[] {
  return changes.filter(matches).map(({ key }) => key)
}

const deletesUser = ({ action, kind, key }: PlatformChange, keys: ReadonlySet<string>): boolean =>
  kind === userKind.name && action === 'delete' && keys.has(key)

/** Returns whether a membership, of `keys` if given, is deleted or loses the admin role. */
function endsAdmin(change: PlatformChange, keys?: ReadonlySet<string>): boolean {
  if (change.kind !== membershipKind.name || keys?.has(change.key) === false) return false
  return (
    change.action === 'delete' || (change.action === 'update' && rolesOf(change)?.includes('admin') === false)
  )
}

const makesAdmin = (change: PlatformChange): boolean =>
  change.kind === membershipKind.name &&
  change.action !== 'delete' &&
  rolesOf(change)?.includes('admin') === true

const rolesOf = (change: Exclude<PlatformChange, { action: 'delete' }>): readonly string[] | undefined =>
  change.fields['roles'] as readonly string[] | undefined
