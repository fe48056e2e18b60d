// The operations of members and invitations. Each call uses a new member, so that callers keep their roles.
import {
  createInvitationToken,
  formatInvitationToken,
  invitationMac,
  type InvitationToken,
} from '../../src/team/invitation-token.ts'
import { addUser, type TestTeam } from '../api.ts'
import { missingId, foreignOf, type Context, type Subject, type SubjectRequest } from './subject.ts'
import { aboutTeams, ofAdmins, ofMembers, ownTeamOf } from './subjects-team.ts'

let people = 0

async function addMember({ api }: Context, team: TestTeam): Promise<number> {
  const { userId } = await addUser(api, `person-${people++}`, [team])
  const { id } = await api.database.postgres.owner
    .selectFrom('memberships')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return id
}

const addInvited = async (context: Context, team: TestTeam) => (await addInvitation(context, team)).id

/** Creates an open invitation of red's admin and returns its token. */
async function addInvitation({ api, fixtures }: Context, { teamId }: TestTeam): Promise<InvitationToken> {
  const { userId, email } = fixtures.people.admin
  const { owner } = api.database.postgres
  const invited = await owner
    .insertInto('invitations')
    .values({
      team_id: teamId,
      email: `invited-${people++}@elsewhere.example`,
      roles: ['editor'],
      token_mac: Buffer.alloc(32),
      invited_by: userId,
      inviter: `user:${userId}`,
      inviter_name: email,
      sent: new Date(Date.now() - 3_600_000),
      expires: new Date(Date.now() + 3_600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const token = createInvitationToken(invited.id)
  await owner
    .updateTable('invitations')
    .set({ token_mac: invitationMac(api.config.secret, token) })
    .where('id', '=', token.id)
    .execute()
  return token
}

type Add = typeof addMember

/** In the caller's team: a member, a member of another team, and an unknown id. */
function inCurrentTeam(add: Add, request: SubjectRequest = {}): Subject['requests'] {
  const about = (member_id: number) => ({ ...request, params: { team_id: 'current', member_id } })
  return {
    own: async (context) => about(await add(context, ownTeamOf(context))),
    foreign: async (context) => about(await add(context, foreignOf(context))),
    missing: async () => about(missingId),
  }
}

/** In a team given by its id, with a member of that team. */
function inNamedTeam(add: Add, request: SubjectRequest = {}): Subject['requests'] {
  const about = async (context: Context, team: TestTeam) => ({
    ...request,
    params: { team_id: team.teamId, member_id: await add(context, team) },
  })
  return {
    own: (context) => about(context, ownTeamOf(context)),
    foreign: (context) => about(context, foreignOf(context)),
    missing: async () => ({ ...request, params: { team_id: missingId, member_id: missingId } }),
  }
}

/** In the own team, which staff have to enter. */
const inOwnTeam =
  (answers: Subject['answers']): Subject['answers'] =>
  (which, identity) => {
    if (ofMembers(200)('own', identity) !== 200) return ofMembers(200)('own', identity)
    return which === 'own' ? answers(which, identity) : 'not_found'
  }

const ofOwnMembers = (success: number): Subject['answers'] => inOwnTeam(() => success)

/** Members of another team are not found in the caller's team, including for staff. */
const ofOwnAdmins = (success: number): Subject['answers'] => inOwnTeam(ofAdmins(success))

function aboutMembers(
  route: string,
  kind: string,
  add: Add,
  success: number,
  request: SubjectRequest = {},
): Subject[] {
  const reads = route === 'getMember'
  return [
    {
      route,
      form: kind,
      requests: inCurrentTeam(add, request),
      answers: reads ? ofOwnMembers(success) : ofOwnAdmins(success),
    },
    {
      route,
      form: `${kind}, in a team by its id`,
      requests: inNamedTeam(add, request),
      answers: (reads ? ofMembers : ofAdmins)(success),
      ofAllTeams: 'staff',
    },
  ]
}

export const memberSubjects: readonly Subject[] = [
  { route: 'listMembers', requests: aboutTeams(), answers: ofMembers(200), ofAllTeams: 'staff' },
  {
    route: 'listMembers',
    form: 'with filters',
    requests: aboutTeams({
      query: {
        email: 'EXAMPLE',
        status: 'active',
        is_admin: 'true',
        ordering: '-last_seen,email',
        limit: '2',
      },
    }),
    answers: ofMembers(200),
    ofAllTeams: 'staff',
  },
  ...['listTeamAccess', 'exportTeamAccess'].flatMap((route): Subject[] => [
    { route, requests: aboutTeams(), answers: ofAdmins(200), ofAllTeams: 'staff' },
    {
      route,
      form: 'with filters',
      requests: aboutTeams({ query: { kind: 'api_token', unused_days: '90' } }),
      answers: ofAdmins(200),
      ofAllTeams: 'staff',
    },
  ]),
  {
    route: 'addMember',
    requests: {
      own: async (context) => ({ ...newMember(), params: { team_id: ownTeamOf(context).teamId } }),
      foreign: async (context) => ({ ...newMember(), params: { team_id: foreignOf(context).teamId } }),
      missing: async () => ({ ...newMember(), params: { team_id: missingId } }),
    },
    answers: ofAdmins(201),
    ofAllTeams: 'staff',
  },
  {
    route: 'addMember',
    form: 'to the current team',
    requests: { only: async () => ({ ...newMember(), params: { team_id: 'current' } }) },
    answers: (_which, identity) => ofAdmins(201)('own', identity),
  },
  ...aboutMembers('resendInvitation', 'an invitation', addInvited, 200),
  ...aboutMembers('getMember', 'a member', addMember, 200),
  ...aboutMembers('getMember', 'an invitation', addInvited, 200),
  ...aboutMembers('updateMember', 'a member', addMember, 200, { body: { is_admin: true } }),
  ...aboutMembers('updateMember', 'an invitation', addInvited, 200, { body: { is_admin: true } }),
  ...aboutMembers('removeMember', 'a member', addMember, 204),
  ...aboutMembers('removeMember', 'an invitation', addInvited, 204),
  { route: 'showInvitation', ...aboutLinks() },
  {
    route: 'acceptInvitation',
    ...aboutLinks({ password: 'seven unlikely words of mine', first_name: 'Ann', last_name: 'Lee' }),
  },
]

/** The token is the credential; the Authorization header is ignored. */
function aboutLinks(rest: object = {}): Pick<Subject, 'requests' | 'answers' | 'ofAllTeams'> {
  const about = (token: InvitationToken) => ({ body: { token: formatInvitationToken(token), ...rest } })
  return {
    requests: {
      own: async (context) => about(await addInvitation(context, context.fixtures.red)),
      // The id of an open invitation with the secret of another.
      foreign: async (context) =>
        about(createInvitationToken(await addInvited(context, context.fixtures.red))),
      missing: async () => about(createInvitationToken(missingId)),
    },
    answers: (which) => (which === 'own' ? 200 : 'invalid_token'),
    ofAllTeams: true,
  }
}

function newMember(): SubjectRequest {
  return { body: { email: `new-${people++}@elsewhere.example`, is_admin: true, message: 'Welcome' } }
}
