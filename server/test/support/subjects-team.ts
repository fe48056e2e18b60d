// The operations of a team itself.
import type { Identity } from './callers.ts'
import {
  foreignOf,
  missingId,
  only,
  type Context,
  type Outcome,
  type Subject,
  type SubjectRequest,
  type Which,
} from './subject.ts'
import type { TestTeam } from '../api.ts'

/** Returns the team that the caller works in; red for callers without a team. Includes teams without modules. */
export function ownTeamOf({ fixtures, identity }: Context): TestTeam {
  return 'team' in identity ? fixtures[identity.team] : fixtures.red
}

/** A team by its id: the caller's, one without the caller, an unknown one. */
export function aboutTeams(request: SubjectRequest = {}): Subject['requests'] {
  const about = (team_id: number) => ({ ...request, params: { team_id } })
  return {
    own: async (context) => about(ownTeamOf(context).teamId),
    foreign: async (context) => about(foreignOf(context).teamId),
    missing: async () => about(missingId),
  }
}

const isStaff = (identity: Identity) => 'isStaff' in identity && identity.isStaff
const isAdmin = (identity: Identity) => {
  if (!('staffRoles' in identity)) return false
  if (identity.isStaff) return identity.staffRoles.includes('admin') && identity.entry === 'changing'
  return identity.isAdmin
}

/** Staff have to enter each team with a reason. */
const isToEnter = (which: Which, identity: Identity) =>
  isStaff(identity) &&
  (which === 'foreign' || (which === 'own' && 'entry' in identity && identity.entry === 'none'))

export const ofMembers =
  (success: number) =>
  (which: Which, identity: Identity): Outcome => {
    if (isToEnter(which, identity)) return 'reason_required'
    return which === 'own' ? success : 'not_found'
  }

/** Members without the admin role get 403 for teams that they can see. */
export const ofAdmins =
  (success: number) =>
  (which: Which, identity: Identity): Outcome =>
    which === 'own' && !isToEnter(which, identity) && !isAdmin(identity)
      ? 'forbidden'
      : ofMembers(success)(which, identity)

let changes = 0

export const teamSubjects: readonly Subject[] = [
  { route: 'listTeams', requests: only(), answers: () => 200, ofAllTeams: 'staff' },
  {
    route: 'listTeams',
    form: 'with filters',
    requests: only({ query: { name: 'TEAM', ordering: '-created,name', limit: '1' } }),
    answers: () => 200,
    ofAllTeams: 'staff',
  },
  { route: 'listRoles', requests: only(), answers: () => 200 },
  { route: 'getTeam', requests: aboutTeams(), answers: ofMembers(200), ofAllTeams: 'staff' },
  {
    route: 'getTeam',
    form: 'the current team',
    requests: only({ params: { team_id: 'current' } }),
    answers: (_which, identity) => ofMembers(200)('own', identity),
  },
  {
    route: 'updateTeam',
    requests: aboutTeams({ body: { description: 'sent by a caller', timezone: 'Europe/Amsterdam' } }),
    answers: ofAdmins(200),
    ofAllTeams: 'staff',
  },
  {
    route: 'updateTeam',
    form: 'the current team',
    requests: {
      only: async () => ({ params: { team_id: 'current' }, body: { description: `change ${changes++}` } }),
    },
    answers: (_which, identity) => ofAdmins(200)('own', identity),
  },
]
