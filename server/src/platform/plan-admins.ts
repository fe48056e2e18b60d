// No plan leaves a team without an admin unless it is told to: what would take the last ones away is left out, and said.
// Pure.
import type { Change, PlanOptions } from './plan.ts'
import type { Current } from './platform.ts'

/** The changes without those that would; with `enforce` all of them, and a word about it. */
export function keepAdmins(
  changes: readonly Change[],
  current: Current,
  { enforce }: Pick<PlanOptions, 'enforce'>,
  notices: string[],
): Change[] {
  const left = teamsLeftWithout(changes, current)
  for (const team of left) {
    notices.push(
      enforce
        ? `team ${team}: it is left without an admin`
        : `team ${team}: it would be left without an admin; its admins stay (--enforce takes them away)`,
    )
  }
  if (enforce || left.length === 0) return [...changes]
  const kept = new Set(left)
  const admins = adminsOf(current).filter(({ team }) => kept.has(team))
  return changes.filter((change) => !admins.some((admin) => takesAway(change, admin)))
}

type Admin = { readonly team: string; readonly user: string }

function adminsOf(current: Current): Admin[] {
  return [...current.membership.values()].filter(({ fields }) => fields.admin).map(({ fields }) => fields)
}

function teamsLeftWithout(changes: readonly Change[], current: Current): string[] {
  const before = adminsOf(current)
  const after = before.filter((admin) => !changes.some((change) => takesAway(change, admin)))
  const staffed = new Set([...after.map(({ team }) => team), ...changes.flatMap(teamGivenAdmin)])
  const gone = new Set(
    changes.flatMap(({ action, kind, key }) => (action === 'delete' && kind === 'team' ? [key] : [])),
  )
  return [...new Set(before.map(({ team }) => team))]
    .filter((team) => !staffed.has(team) && !gone.has(team))
    .toSorted()
}

/** The role, the membership, or the whole account. */
function takesAway(change: Change, { team, user }: Admin): boolean {
  if (change.kind === 'user') return change.action === 'delete' && change.key === user
  if (change.kind !== 'membership' || change.key !== `${team} ${user}`) return false
  return change.action === 'delete' || (change.action === 'update' && change.fields.admin === false)
}

function teamGivenAdmin(change: Change): string[] {
  if (change.action === 'delete' || change.kind !== 'membership' || change.fields.admin !== true) return []
  return [change.key.split(' ', 1)[0]!]
}
