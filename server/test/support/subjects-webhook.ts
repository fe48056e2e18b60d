// The operations of webhooks. Each call uses a new webhook with an address reserved for documentation, so messages are
// never delivered.
import { addDelivery, addWebhook } from '../../src/webhook/testing.ts'
import {
  absentIsNotFound,
  foreignOf,
  missingId,
  only,
  ownOf,
  type Context,
  type Subject,
  type SubjectRequest,
} from './subject.ts'

/** Webhooks need no module: teams without modules have them too. */
const ownTeamOf = (context: Context): number =>
  'team' in context.identity && context.identity.team === 'bare'
    ? context.fixtures.bare.teamId
    : ownOf(context).teamId

const webhookOf = ({ api }: Context, teamId: number): Promise<number> =>
  addWebhook(api.database.postgres.owner, api.config.secret, teamId)

function aboutWebhooks(rest: SubjectRequest = {}): Subject['requests'] {
  const request = (webhook_id: number) => ({ ...rest, params: { webhook_id } })
  return {
    own: async (context) => request(await webhookOf(context, ownTeamOf(context))),
    foreign: async (context) => request(await webhookOf(context, foreignOf(context).teamId)),
    missing: async () => request(missingId),
  }
}

function aboutDeliveries(): Subject['requests'] {
  const requestIn = async (context: Context, teamId: number): Promise<SubjectRequest> => {
    const webhook_id = await webhookOf(context, teamId)
    const delivery_id = await addDelivery(context.api.database.postgres.owner, webhook_id, {
      state: 'delivered',
    })
    return { params: { webhook_id, delivery_id } }
  }
  return {
    own: (context) => requestIn(context, ownTeamOf(context)),
    foreign: (context) => requestIn(context, foreignOf(context).teamId),
    missing: async (context) => {
      const { params } = await requestIn(context, ownTeamOf(context))
      return { params: { ...params, delivery_id: missingId } }
    },
  }
}

const url = 'https://hooks.example.net/pharos'

export const webhookSubjects: readonly Subject[] = [
  { route: 'listWebhooks', requests: only(), answers: () => 200 },
  { route: 'getWebhook', requests: aboutWebhooks(), answers: absentIsNotFound },
  {
    route: 'createWebhook',
    requests: only({ body: { url, events: ['event.started', 'event.ended'] } }),
    answers: () => 201,
  },
  {
    route: 'createWebhook',
    form: 'with a private address',
    requests: only({ body: { url: 'https://127.0.0.1/', events: ['event.started'] } }),
    answers: () => 'invalid',
  },
  {
    route: 'updateWebhook',
    requests: aboutWebhooks({ body: { description: 'the pager', enabled: false } }),
    answers: absentIsNotFound,
  },
  {
    route: 'deleteWebhook',
    requests: aboutWebhooks(),
    answers: (which) => (which === 'own' ? 204 : 'not_found'),
  },
  { route: 'rotateWebhookSecret', requests: aboutWebhooks(), answers: absentIsNotFound },
  { route: 'testWebhook', requests: aboutWebhooks(), answers: absentIsNotFound },
  { route: 'listWebhookDeliveries', requests: aboutWebhooks(), answers: absentIsNotFound },
  { route: 'getWebhookDelivery', requests: aboutDeliveries(), answers: absentIsNotFound },
  {
    route: 'redeliverWebhook',
    requests: aboutDeliveries(),
    answers: (which) => (which === 'own' ? 202 : 'not_found'),
  },
]
