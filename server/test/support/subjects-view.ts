// The operations of saved views. Each call is about a new view: of the caller, of another member, or of another team.
import { randomUUID } from 'node:crypto'
import {
  absentIsNotFound,
  foreignOf,
  missingId,
  only,
  type Context,
  type Subject,
  type SubjectRequest,
} from './subject.ts'
import { ownTeamOf } from './subjects-team.ts'

/** Letters only: idempotency.test.ts changes such names. */
const newName = () =>
  `view ${randomUUID().replaceAll(/[-\d]/g, (sign) => String.fromCharCode(97 + (Number(sign) || 20)))}`

async function addView({ api }: Context, teamId: number, userId: number | null): Promise<number> {
  const { id } = await api.database.postgres.owner
    .insertInto('saved_views')
    .values({ team_id: teamId, user_id: userId, page: 'events', name: newName(), creator: `user:${userId}` })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Callers without a user are refused before the view is looked up. */
const callerOf = ({ presented, fixtures }: Context): number =>
  presented.userId ?? fixtures.people.member.userId

function aboutViews(rest: SubjectRequest = {}): Subject['requests'] {
  const request = (view_id: number) => ({ ...rest, params: { view_id } })
  return {
    own: async (context) => request(await addView(context, ownTeamOf(context).teamId, callerOf(context))),
    foreign: async (context) => request(await addView(context, foreignOf(context).teamId, null)),
    missing: async () => request(missingId),
  }
}

/** In the caller's team, and of a user who is not in it. */
const ofAnother = (route: string, rest: SubjectRequest = {}): Subject => ({
  route,
  form: 'of another member',
  requests: {
    own: async (context) => ({
      ...rest,
      params: {
        view_id: await addView(context, ownTeamOf(context).teamId, context.fixtures.people.former.userId),
      },
    }),
    missing: async () => ({ ...rest, params: { view_id: missingId } }),
  },
  answers: () => 'not_found',
  without: { foreign: 'the holder is looked up within the team' },
})

const renamed = { body: { search: '?ongoing=true' } }

export const viewSubjects: readonly Subject[] = [
  { route: 'listViews', requests: only(), answers: () => 200 },
  {
    route: 'listViews',
    form: 'with filters',
    requests: only({ query: { page: 'events', shared: 'true', ordering: '-created,name' } }),
    answers: () => 200,
  },
  { route: 'getView', requests: aboutViews(), answers: absentIsNotFound },
  ofAnother('getView'),
  {
    route: 'createView',
    requests: {
      only: async () => ({ body: { name: newName(), page: 'staff-attacks', search: '?range=7d' } }),
    },
    answers: () => 201,
  },
  { route: 'updateView', requests: aboutViews(renamed), answers: absentIsNotFound },
  ofAnother('updateView', renamed),
  { route: 'shareView', requests: aboutViews({ body: { shared: true } }), answers: absentIsNotFound },
  ofAnother('shareView', { body: { shared: true } }),
  {
    route: 'deleteView',
    requests: aboutViews(),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  ofAnother('deleteView'),
]
