// The subjects of shield for every-route.test.ts.
import { replaceUnconfirmedList } from './fixtures.ts'
import { absentIsNotFound, foreignOf, missingId, only, ownOf, type Context, type Subject } from './subject.ts'

/** Each request has another list, since a repeat would have no effect. */
let ports = 1024
const newRules = () => [{ action: 'allow', protocol: 'udp', source_port: String(ports++ % 65_536) }]

const networkOf = (holder: ReturnType<typeof ownOf>): string => `${holder.marks[0]}0/24`

const unconfirmed = async ({ api }: Context, holder: ReturnType<typeof ownOf>) => ({
  params: { list_id: await replaceUnconfirmedList(api, holder.teamId, networkOf(holder)) },
  body: {},
})

const about = (rules: () => unknown[]): Subject['requests'] => {
  const request = (prefix: string) => ({ body: { prefix, rules: rules() } })
  return {
    own: async (context: Context) => request(networkOf(ownOf(context))),
    foreign: async (context: Context) => request(networkOf(foreignOf(context))),
    missing: async () => request('192.88.99.0/24'),
  }
}

export const shieldSubjects: readonly Subject[] = [
  {
    route: 'suggestShieldRules',
    requests: {
      own: async (context) => ({ params: { event_id: ownOf(context).eventIds[0]! }, body: {} }),
      foreign: async (context) => ({ params: { event_id: foreignOf(context).eventIds[0]! }, body: {} }),
      missing: async () => ({ params: { event_id: 'there-is-no-such-event' }, body: {} }),
    },
    answers: absentIsNotFound,
  },
  { route: 'listShieldRules', requests: only({ query: { include: 'hits' } }), answers: () => 200 },
  { route: 'listShieldLists', requests: only(), answers: () => 200 },
  {
    route: 'updateShieldRules',
    requests: about(newRules),
    answers: (which) => (which === 'own' ? 200 : 'invalid'),
  },
  {
    route: 'updateShieldRules',
    form: 'with a dry run',
    requests: {
      own: async (context) => ({
        query: { dry_run: 'true' },
        body: { prefix: networkOf(ownOf(context)), rules: newRules() },
      }),
    },
    answers: () => 200,
    without: { foreign: 'as the form without a dry run', missing: 'as the form without a dry run' },
  },
  {
    route: 'revertShieldList',
    requests: {
      own: async (context) => unconfirmed(context, ownOf(context)),
      foreign: async (context) => unconfirmed(context, foreignOf(context)),
      missing: async () => ({ params: { list_id: missingId }, body: {} }),
    },
    answers: absentIsNotFound,
  },
  {
    route: 'getShieldTraffic',
    requests: {
      own: async (context) => ({ query: { prefix: networkOf(ownOf(context)) } }),
      foreign: async (context) => ({ query: { prefix: networkOf(foreignOf(context)) } }),
      missing: async () => ({ query: { prefix: '192.88.99.0/24' } }),
    },
    answers: (which) => (which === 'own' ? 200 : 'invalid'),
  },
  {
    route: 'simulateShield',
    requests: about(newRules),
    answers: (which) => (which === 'own' ? 200 : 'invalid'),
  },
]
