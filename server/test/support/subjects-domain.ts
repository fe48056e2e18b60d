// The operations of domains. Each call uses a new domain, and no name server responds.
import type { TestTeam } from '../api.ts'
import { addDomain } from './domains.ts'
import { foreignOf, missingId, type Context, type Subject, type SubjectRequest } from './subject.ts'
import { aboutTeams, ofAdmins, ofMembers, ownTeamOf } from './subjects-team.ts'

const add = ({ api }: Context, { teamId }: TestTeam): Promise<number> =>
  addDomain(api.database.postgres.owner, teamId)

/** In the caller's team: its own domain, a domain of another team, and a missing one. */
function inCurrentTeam(request: SubjectRequest): Subject['requests'] {
  const about = (domain_id: number) => ({ ...request, params: { team_id: 'current', domain_id } })
  return {
    own: async (context) => about(await add(context, ownTeamOf(context))),
    foreign: async (context) => about(await add(context, foreignOf(context))),
    missing: async () => about(missingId),
  }
}

/** In a team given by its id, with a domain of that team. */
function inNamedTeam(request: SubjectRequest): Subject['requests'] {
  const about = async (context: Context, team: TestTeam) => ({
    ...request,
    params: { team_id: team.teamId, domain_id: await add(context, team) },
  })
  return {
    own: (context) => about(context, ownTeamOf(context)),
    foreign: (context) => about(context, foreignOf(context)),
    missing: async () => ({ ...request, params: { team_id: missingId, domain_id: missingId } }),
  }
}

/**
 * A domain of another team is not found in the caller's team, including for staff; without the admin role the response is always
 * 403.
 */
const inOwnTeam =
  (success: number, needsAdmin: boolean): Subject['answers'] =>
  (which, identity) => {
    const inTeam = (needsAdmin ? ofAdmins : ofMembers)(success)('own', identity)
    return inTeam === success && which !== 'own' ? 'not_found' : inTeam
  }

function aboutDomains(route: string, success: number, request: SubjectRequest = {}): Subject[] {
  const needsAdmin = route !== 'getDomain'
  return [
    { route, requests: inCurrentTeam(request), answers: inOwnTeam(success, needsAdmin) },
    {
      route,
      form: 'in a team by its id',
      requests: inNamedTeam(request),
      answers: (needsAdmin ? ofAdmins : ofMembers)(success),
      ofAllTeams: 'staff',
    },
  ]
}

let names = 0
const newDomain = (): SubjectRequest => ({ body: { domain: `New-${names++}.example.`, auto_join: true } })

export const domainSubjects: readonly Subject[] = [
  { route: 'listDomains', requests: aboutTeams(), answers: ofMembers(200), ofAllTeams: 'staff' },
  {
    route: 'listDomains',
    form: 'verified domains',
    requests: aboutTeams({ query: { verified: 'true', limit: '2', offset: '1' } }),
    answers: ofMembers(200),
    ofAllTeams: 'staff',
  },
  {
    route: 'addDomain',
    requests: {
      own: async (context) => ({ ...newDomain(), params: { team_id: ownTeamOf(context).teamId } }),
      foreign: async (context) => ({ ...newDomain(), params: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ ...newDomain(), params: { team_id: missingId } }),
    },
    answers: ofAdmins(201),
    ofAllTeams: 'staff',
  },
  {
    route: 'addDomain',
    form: 'to the current team',
    requests: { only: async () => ({ ...newDomain(), params: { team_id: 'current' } }) },
    answers: (_which, identity) => ofAdmins(201)('own', identity),
  },
  ...aboutDomains('getDomain', 200),
  ...aboutDomains('updateDomain', 200, { body: { auto_join: true } }),
  ...aboutDomains('verifyDomain', 200),
  ...aboutDomains('removeDomain', 204),
]
